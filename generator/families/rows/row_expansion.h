// Expansion of softmax and normalizations into reductions and
// pointwise ops, so that one analysis and one generator suffice.
//
// softmax becomes amax, sub, exp, sum and mul; layer_norm becomes mean, var, rsqrt and so on. Forms that a module
// already writes as such ops need no change. Expanded values are float32 (float64 for float64) and never rounded to
// half in between. Pointwise nodes and views are copied.
#pragma once

#include "generator/elements/region.h"
#include "support/error.h"

namespace warpwright::families::rows {

/// A region as its own graph: its inputs as "input" nodes, constants, and its expanded nodes.
struct ExpandedRegion {
  model::Graph graph;
  elements::Region region; ///< inputs and outputs have the names that they had
};

/// Errors: an operand or attribute violates docs/internals/op-graph.md; the error names the node.
Result<ExpandedRegion> expand_region(const ops::GraphIndex &graph, const elements::Region &region);

} // namespace warpwright::families::rows
