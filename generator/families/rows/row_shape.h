// Loop structure of a row region: the threads that share a row,
// the elements that a thread takes, and names of coordinates.
//
// If the innermost dimensions are reduced, `group` adjacent threads share a row and take vectors along it. If they are
// kept, a thread takes `vector` adjacent rows ("columns"), and `group` non-adjacent threads of a block share them.
#pragma once

#include "generator/elements/element_writer.h"
#include "generator/families/rows/row_program.h"

#include <algorithm>

namespace warpwright::families::rows {

struct RowShape {
  int threads = 256; ///< threads of a block
  int group = 256;   ///< threads that share a row; more than `threads` with clusters and gangs
  int vector = 1;    ///< neighboring elements that a thread takes
  int unroll = 1;    ///< vectors that a thread loads before it computes
  int splits =
      1; ///< blocks that share a row; more than 1: one kernel a pass, with partial results between
  int cluster =
      1; ///< blocks of a cluster that share a row: group = threads * cluster, inner dimensions only
  /// Blocks of a gang, which share and hold a row and wait for each other in global memory: group = threads * gang.
  int gang = 1;
  int gangs = 1; ///< gangs of the launch: each takes row after row, all resident on the GPU at once
  int resident = 1;  ///< blocks per multiprocessor, for which the compiler limits registers
  bool hold = false; ///< rows stay in registers; a thread has `unroll` vectors in all
};

/// States that a block exchanges where the inner dimensions are kept: as many as reduce_columns of device/rows.cuh writes.
inline std::int64_t column_states(std::int64_t threads, std::int64_t group, std::int64_t vector) {
  constexpr std::int64_t kWarp = 32;
  const std::int64_t lanes = std::max<std::int64_t>(threads / group, 1),
                     within = kWarp % lanes != 0 ? 1 : std::min(group, kWarp / lanes);
  return group == 1 ? 1 : group / within * lanes * vector;
}

/// Names and index texts. Coordinates of the domain's groups
/// are g0, g1, ...; the last group's coordinate counts vectors.
class RowIndices {
public:
  RowIndices(const RowProgram &program, const RowShape &shape);

  /// "int", or "long long" where elements exceed 2^31.
  const std::string &type() const { return type_; }
  /// Rows of a thread: 1, or `vector` if the inner dimensions are kept.
  int width() const { return program_.reduces_inner() ? 1 : shape_.vector; }
  /// Declares the kept coordinates from `row`, the thread's first row.
  std::string declare_kept(const std::string &indent) const;
  /// Declares the reduced coordinates from `r`, the first of a vector.
  std::string declare_reduced(const std::string &indent) const;
  /// Passes the ranges of the coordinates to the writer.
  void bound(elements::ElementWriter &writer) const;
  /// Offset of a vector's first element in the domain.
  std::string offset() const;
  /// Index of an element value at element `lane` of the vector.
  elements::Index element(const model::Shape &shape, int lane) const;
  /// Index of a row value at row `lane` of the thread.
  elements::Index row(const model::Shape &shape, int lane) const;

private:
  std::string coordinate(std::size_t group, int lane) const;
  std::string declare(bool reduced, const std::string &from, const std::string &indent) const;
  /// Index of a value aligned with the groups; nullopt if a dimension spans groups.
  std::optional<elements::Index> aligned(const model::Shape &shape, int lane,
                                         bool with_reduced) const;
  elements::Index flat(const model::Shape &shape, const std::string &position) const;

  const RowProgram &program_;
  const RowShape &shape_;
  std::string type_;
  std::vector<std::int64_t> strides_; ///< of groups in the domain
};

} // namespace warpwright::families::rows
