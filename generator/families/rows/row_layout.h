// Common state of the writers of a row kernel: the program, its shape, how threads cover rows, and names in the text.
//
// The program and the shape must outlive it.
#pragma once

#include "generator/families/rows/row_passes.h"
#include "generator/families/rows/row_shape.h"
#include "generator/families/rows/row_states.h"

#include <set>

namespace warpwright::families::rows {

struct RowLayout {
  RowLayout(const RowProgram &program, const RowShape &shape, std::string prefix);
  RowLayout(const RowLayout &) = delete; ///< its members refer to each other

  const RowProgram &program;
  const ops::GraphIndex graph; ///< of the written-out region
  const elements::Region &region;
  const RowShape &shape;
  const RowPasses passes;
  const RowIndices indices;
  const RowStates states;
  const std::string prefix;         ///< of all names in the source
  const bool inner;                 ///< true if the innermost dimensions are reduced
  std::set<std::string> known_rows; ///< row values that the text has computed so far

  const RowPass &plan(int pass) const { return passes.passes[static_cast<std::size_t>(pass)]; }
  bool has_reductions(int pass) const { return states.has_reductions(pass); }
  bool has_row_outputs(int pass) const;
  /// The last pass with a reduction.
  int last_reduction() const;

  std::string struct_name(int pass) const {
    return prefix + "_pass" + std::to_string(pass) + "_state";
  }
  std::string partials(int pass) const { return prefix + "_partials" + std::to_string(pass); }
  std::string counters() const { return prefix + "_counters"; }
  std::string compute_type(const std::string &value) const;

  /// Elements of one row that a thread takes in one chunk.
  std::int64_t values_a_chunk() const { return shape.unroll * (inner ? shape.vector : 1); }
  /// Elements of a row in a chunk of all threads that share the row.
  std::int64_t chunk() const {
    return std::int64_t{shape.group} * shape.unroll * (inner ? shape.vector : 1);
  }
  /// Elements of a row that each of several blocks takes.
  std::int64_t split_length() const;
  /// Rows, or vectors of rows, side by side in a block.
  int lanes() const { return std::max(1, shape.threads / shape.group); }
  int rows_a_block() const { return lanes() * (inner ? 1 : shape.vector); }
  /// True if all vectors of all threads lie within the row, so that no bounds checks are needed.
  bool exact() const;
  /// Number of accumulators of a block in shared memory, for one pass.
  std::int64_t scratch_size() const;
  /// Errors: a shape that the program cannot have.
  Result<void> check() const;

  /// Declares reductions and row values of passes before `pass` at the start of a scope.
  /// @param lane lane among the thread's rows; nullopt binds all rows as lanes
  void bind_rows(elements::ElementWriter &writer, int pass, std::optional<int> lane) const;
  /// Element of an output in memory by its strides, "out0[...]".
  std::string element_of(const RowOutput &output, const elements::Index &index) const;
  std::string declare_state(int pass) const;
};

} // namespace warpwright::families::rows
