// A row region as passes over rows: the elements of a row, the
// values per element and per row, and the order of reductions.
//
// The elements of the first reduction's operand, in row-major order, form groups of dimensions
// that are kept or reduced. layer_norm has the groups kept, reduced; a sum over dimension 1 of 3
// has kept, reduced, kept; batch_norm has reduced, kept, reduced. A row is one position in the
// kept groups. Reductions of pass 0 read values that depend only on inputs; those of pass p+1
// read values that depend on reductions of pass p. Leaves out: loops and text (row_kernel.h).
#pragma once

#include "generator/families/rows/row_expansion.h"
#include "generator/ops/op.h"

#include <map>
#include <optional>

namespace warpwright::families::rows {

/// Adjacent dimensions that are all kept or all reduced.
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
  /// Node of the maximum if this is an exponential sum, sum(exp(operand - maximum)), of the same pass; empty if
  /// `operand` itself is reduced.
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
  /// True if the last group, whose elements are neighbors in memory, is reduced.
  bool reduces_inner() const { return groups.back().reduced; }
};

struct RowProgramOptions {
  /// Computes sums of exp(x - amax(x)) in the pass of the maximum.
  bool online_softmax = false;
};

/// Errors: the region is not a row region; the error names the node that does not fit.
Result<RowProgram> make_row_program(const ops::GraphIndex &graph, const elements::Region &region,
                                    const RowProgramOptions &options = {});

/// True for ops that reduce dimensions with one reduction per node.
bool is_plain_reduction(const std::string &op);

} // namespace warpwright::families::rows
