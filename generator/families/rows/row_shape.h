// The loops of a row region: which threads share a row, what a thread takes at once, and names of coordinates in the text.
//
// Where the innermost dimensions are reduced, `group` neighbouring threads share a row and each takes vectors along it. Where they are kept,
// a thread takes `vector` neighbouring rows ("columns") and `group` threads of a block, apart from each other, share them. Thread: values.
#pragma once

#include "generator/elements/element_writer.h"
#include "generator/families/rows/row_program.h"

namespace warpwright::families::rows {

struct RowShape {
  int threads = 256; ///< a block
  int group = 256;   ///< threads that share a row; more than `threads` with clusters and gangs
  int vector = 1;    ///< neighbouring elements a thread takes
  int unroll = 1;    ///< vectors that a thread loads before it computes
  int splits =
      1; ///< blocks that share a row; more than 1: one kernel a pass, with partial results between
  int cluster =
      1; ///< blocks of a cluster that share a row: group = threads * cluster, inner dimensions only
  /// Blocks that share a row, hold it and wait for each other in global memory: group = threads * gang.
  int gang = 1;
  int gangs = 1; ///< that the launch has; each takes row after row, and all are on the GPU at once
  int resident = 1;  ///< blocks of gangs a multiprocessor, for which the compiler keeps registers
  bool hold = false; ///< rows stay in registers: `unroll` vectors are a thread's whole share
};

/// Names and index texts. Coordinates of groups of the domain are called g0, g1, ...; that of the last counts vectors.
class RowIndices {
public:
  RowIndices(const RowProgram &program, const RowShape &shape);

  /// "int", or "long long" where elements exceed 2^31.
  const std::string &type() const { return type_; }
  /// Rows that a thread works on: 1, or the vector where the inner dimensions are kept.
  int width() const { return program_.reduces_inner() ? 1 : shape_.vector; }
  /// Declares the kept coordinates from `row`, the first of the thread's rows.
  std::string declare_kept(const std::string &indent) const;
  /// Declares the reduced coordinates from `r`, the first of a vector.
  std::string declare_reduced(const std::string &indent) const;
  /// Tells the writer the ranges of the coordinates.
  void bound(elements::ElementWriter &writer) const;
  /// Offset in the domain of the first element of a vector.
  std::string offset() const;
  /// The index of a value of the domain's elements, at element `lane` of the vector.
  elements::Index element(const model::Shape &shape, int lane) const;
  /// The index of a row value, for row `lane` of the thread's.
  elements::Index row(const model::Shape &shape, int lane) const;

private:
  std::string coordinate(std::size_t group, int lane) const;
  std::string declare(bool reduced, const std::string &from, const std::string &indent) const;
  /// nullopt where a dimension spans groups.
  std::optional<elements::Index> aligned(const model::Shape &shape, int lane,
                                         bool with_reduced) const;
  elements::Index flat(const model::Shape &shape, const std::string &position) const;

  const RowProgram &program_;
  const RowShape &shape_;
  std::string type_;
  std::vector<std::int64_t> strides_; ///< of groups in the domain
};

} // namespace warpwright::families::rows
