// Sizes drawn within a task's ranges, and the split that a shape belongs to.
//
// Shapes are split by cells: a size's cell is a quarter of an octave, and the sum of a shape's cells modulo 5 says where it belongs: 4
// held-out, 3 validation, 0 to 2 training. So no held-out shape has a neighbour within a few per cent that was trained on, in any task
// with as many sizes, and every range of an octave and a quarter holds shapes of all three. Drawings are of our own generator: the same seed gives the same
// shapes on every machine. Thread: any.
#pragma once

#include "support/symbolic/expression.h"
#include "trainer/tasks/training_task.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct SizeRange {
  std::string name;
  std::int64_t small = 1; ///< at which the task is checked without a GPU
  std::int64_t from = 1, to = 1, step = 1;
};

struct ShapeSpace {
  std::vector<SizeRange> sizes;
  std::int64_t least_points = 0, most_points = 0; ///< of the product of all sizes; 0: any
};

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class ShapeRandom {
public:
  explicit ShapeRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  double uniform(); ///< [0, 1)

private:
  std::uint64_t state_;
};

Split split_of_shape(const symbolic::Sizes &sizes);

symbolic::Sizes small_shape(const ShapeSpace &space);

/// Log-uniform; every second value is rounded to three significant bits, as sizes of real programs are.
/// @param split of the shape; nullopt: any
/// @return nullopt where 4096 drawings gave none
std::optional<symbolic::Sizes> draw_shape(const ShapeSpace &space, std::optional<Split> split,
                                          ShapeRandom &random);

/// "rows=4096,cols=512", by name.
std::string shape_text(const symbolic::Sizes &sizes);

} // namespace warpwright::trainer
