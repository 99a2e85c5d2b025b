// Softmax, normalisations and norms written out as reductions and pointwise ops, so that one analysis and one generator serve them all.
//
// softmax becomes amax, sub, exp, sum and mul; layer_norm becomes mean, var, rsqrt and so on; composite forms that arrive that way from
// a module need nothing. The written-out values are float32 (float64 for float64), never rounded to half in between.
// Leaves out what reduces nothing: pointwise nodes and views are copied. Thread: pure functions.
#pragma once

#include "generator/elements/region.h"
#include "support/error.h"

namespace warpwright::families::rows {

/// A region on its own: a graph of the region's inputs as "input" nodes, constants, and its nodes written out.
struct ExpandedRegion {
  model::Graph graph;
  elements::Region region; ///< inputs and outputs have the names that they had
};

/// Errors: an operand or attribute that is not as docs/internals/op-graph.md says, with the node.
Result<ExpandedRegion> expand_region(const ops::GraphIndex &graph, const elements::Region &region);

} // namespace warpwright::families::rows
