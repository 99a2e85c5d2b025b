// Random shapes within a task's ranges, and the split of a shape.
//
// Shapes are split by cells. A size's cell is a quarter of an octave, and the sum of a shape's cells modulo 5 gives the
// split: 4 held-out, 3 validation, 0 to 2 training. A held-out shape thus lies in cells where no task with the same
// number of sizes is trained, although a training shape may lie just across a cell's boundary. Each range of an octave
// and a quarter has shapes of all three splits. The random generator is built in, so a seed gives the same shapes on
// every machine. Thread: any.
#pragma once

#include "support/symbolic/expression.h"
#include "trainer/tasks/training_task.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct SizeRange {
  std::string name;
  std::int64_t small = 1; ///< size for checks without a GPU
  std::int64_t from = 1, to = 1, step = 1;
};

struct ShapeSpace {
  std::vector<SizeRange> sizes;
  std::int64_t least_points = 0, most_points = 0; ///< bounds of the product of all sizes; 0: none
};

/// Random generator SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
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

/// Draws a shape, log-uniformly. Half of the sizes are rounded to three significant bits, as in real programs.
/// @param split of the shape; nullopt: any
/// @return nullopt if 4096 draws found no shape
std::optional<symbolic::Sizes> draw_shape(const ShapeSpace &space, std::optional<Split> split,
                                          ShapeRandom &random);

/// Text of a shape, in the order of names: "cols=512,rows=4096".
std::string shape_text(const symbolic::Sizes &sizes);

} // namespace warpwright::trainer
