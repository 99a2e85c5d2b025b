// Row regions: several reductions over the same dimensions, and the pointwise nodes around and between them, as one kernel.
//
// A normalisation, a softmax variant or a loss in composite form is such a region: x*x -> mean -> rsqrt -> times x; amax -> sub -> exp ->
// sum -> div; log_softmax -> gather -> mean over other dimensions is two. It is the family's Family::grow. Thread: pure functions.
#pragma once

#include "generator/elements/region.h"

#include <set>

namespace warpwright::families::rows {

/// True where the node reduces or normalises along dimensions, so that it may anchor a row region: sum ... norm, argmax, argmin, softmax,
/// log_softmax, layer_norm, group_norm, batch_norm in training.
bool is_row_anchor(const model::Node &node);

/// The largest region around `anchor` that the family "rows" can write as one pass over rows: producers that only this region reads, other
/// reductions over the same elements and dimensions, and pointwise consumers. Convex: no path leaves it and comes back.
/// @param taken nodes that other regions hold; they are inputs at most
/// @return with inputs and outputs filled in
elements::Region grow_row_region(const ops::GraphIndex &graph, const std::string &anchor,
                                 const std::set<std::string> &taken);

} // namespace warpwright::families::rows
