// Row regions: reductions over the same dimensions, with the pointwise nodes around and between them, as one kernel.
//
// A normalization, a softmax variant or a loss in composite form is one region: x*x -> mean -> rsqrt -> times x; amax
// -> sub -> exp -> sum -> div. log_softmax -> gather -> mean over other dimensions is two. The row family's
// Family::grow is this file.
#pragma once

#include "generator/elements/region.h"

#include <set>

namespace warpwright::families::rows {

/// True if the node reduces or normalizes along dimensions, so that it can anchor a row region: sum ... norm, argmax,
/// argmin, softmax, log_softmax, layer_norm, group_norm, batch_norm in training.
bool is_row_anchor(const model::Node &node);

/// The largest region around `anchor` that the family "rows" can write: producers that
/// only this region reads, other reductions over the same elements and dimensions, and
/// pointwise consumers. The region is convex: no path leaves it and returns.
/// @param taken nodes of other regions, which can only be inputs
/// @return the region with its inputs and outputs
elements::Region grow_row_region(const ops::GraphIndex &graph, const std::string &anchor,
                                 const std::set<std::string> &taken);

} // namespace warpwright::families::rows
