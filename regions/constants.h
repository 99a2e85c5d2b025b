// Vectors of constants that a region reads: positions, indices, tables. A region computes these itself: they cost nothing,
// and inputs drawn instead could lie outside of what they index.
#pragma once

#include "regions/graph.h"

#include <set>

namespace warpwright::regions {

/// Indices of the nodes that make such vectors on the region's device, and are not in the region.
std::set<std::size_t> constants_of(const Graph &graph, const std::vector<std::size_t> &region);

} // namespace warpwright::regions
