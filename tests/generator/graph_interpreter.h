// The reference evaluation of op graphs: one plain loop an op, in double precision, as
// docs/internals/op-graph.md defines the ops.
//
// Property tests compare rewrites, families and plans with it. What it leaves out: `aten` nodes (an error that says so), strides (every
// value is taken by index), speed. Ops are grouped by file: graph_interpreter_pointwise.cpp, _views.cpp, _rows.cpp, _windows.cpp.
// Thread: pure functions.
#pragma once

#include "support/error.h"
#include "tests/generator/graph_array.h"

#include <map>

namespace warpwright::test {

/// By name of node: inputs and parameters for what goes in, all nodes for what comes out (result 0 of nodes with several; `item` nodes
/// hold the others).
using Arrays = std::map<std::string, Array>;

struct Interpretation {
  /// Each node's result is rounded to its dtype, as if every node went through memory. Else only integers and booleans are, and floating
  /// point stays double, as in a float64 copy of the module.
  bool round_each_node = false;
  /// NaN in what a node's attribute `fill` says nobody needs, to prove that nobody does; and an error where an operand is not zero
  /// outside the triangle that `a_fill` or `b_fill` promises.
  bool check_fill = false;
};

/// Errors: an op that it cannot evaluate, a leaf without a value, a node whose type is not what its op gives; each names the node.
Result<Arrays> interpret(const model::Graph &graph, const Arrays &leaves,
                         const Interpretation &how = {});

/// Values for every input and parameter: standard normal; variances of batch_norm positive; integers as indices that their users
/// admit, else in [0, 4); booleans even odds.
Arrays draw_leaves(const model::Graph &graph, std::uint64_t seed);

/// One op on arrays: the node's attributes and, for ops whose result's shape is stated and not derived (reshape, expand, cast, iota,
/// constant, upsample_nearest, adaptive pools), its type. Results are not yet rounded.
Result<std::vector<Array>> interpret_node(const model::Node &node,
                                          const std::vector<const Array *> &inputs);

} // namespace warpwright::test
