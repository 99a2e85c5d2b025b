// A row region as passes over rows: which elements make a row, which values belong to an element and which to a row, and
// in which order reductions can be done.
//
// The elements of the first reduction's operand, in row-major order, are split into groups of dimensions that are kept and groups that are
// reduced: layer_norm is kept, reduced; a sum over dimension 1 of 3 is kept, reduced, kept; batch_norm is reduced, kept, reduced. A row is
// one choice of the kept ones. In pass 0 reductions read values that depend on inputs only; in pass p+1 values that depend on reductions
// of pass p. Leaves out how loops run and what text comes of it (row_kernel.h). Thread: pure functions.
#pragma once

#include "generator/families/rows/row_expansion.h"
#include "generator/ops/op.h"

#include <map>
#include <optional>

namespace warpwright::families::rows {

/// Dimensions next to each other that are kept, or reduced, alike.
struct RowGroup {
  std::int64_t size = 1;
  bool reduced = false;
  bool operator==(const RowGroup &) const = default;
};

struct RowValue {
  enum class Kind {
    Free,    ///< depends on no reduction: its element at any index may be asked for
    Element, ///< one for each element, in the order of the domain
    Row,     ///< one a row, in the order of the kept dimensions
  };
  Kind kind = Kind::Free;
  int pass =
      0; ///< Free, Element: the first pass in which it can be computed; Row: known before this pass
};

struct RowReduction {
  ops::Reduction kind = ops::Reduction::Sum;
  std::string node, operand;
  int pass = 0;
  double correction = 0; ///< of a variance
  bool guarded = false;  ///< an exponential sum does not subtract an infinite maximum
  /// The reduction of the same pass that gives the maximum for an exponential sum, sum(exp(operand - maximum)); empty: `operand` itself is
  /// reduced.
  std::string maximum;
  bool is_exponential_sum() const { return !maximum.empty(); }
};

struct RowOutput {
  std::size_t index = 0; ///< in Region::outputs
  std::string node;
  RowValue value;
};

struct RowProgram {
  ExpandedRegion expanded;
  std::vector<RowGroup> groups; ///< alternating; at least one is reduced
  std::int64_t rows = 1, row_length = 1;
  std::map<std::string, RowValue> values;
  std::vector<RowReduction> reductions; ///< in graph order
  std::vector<RowOutput> outputs;
  int passes = 1;
  std::int64_t elements() const { return rows * row_length; }
  /// True where the last group, whose elements are neighbours in memory, is reduced.
  bool reduces_inner() const { return groups.back().reduced; }
};

struct RowProgramOptions {
  /// Sums of exp(x - amax(x)) in the pass of the maximum.
  bool online_softmax = false;
};

/// Errors: a region that is no row region, with the node that does not fit.
Result<RowProgram> make_row_program(const ops::GraphIndex &graph, const elements::Region &region,
                                    const RowProgramOptions &options = {});

/// Ops that reduce dimensions, one node one reduction.
bool is_plain_reduction(const std::string &op);

} // namespace warpwright::families::rows
