// How large the indices may be that a value holds.
#pragma once

#include "regions/graph.h"

namespace warpwright::regions {

/// The least extent that operators of a region index with a value, or with a view of it.
/// @param indices the region's nodes
/// @param values of the graph, by name
/// @return an extent as in TensorType::extents; null: no operator indexes with it
nlohmann::json index_limit(const Graph &graph, const std::vector<std::size_t> &indices, const std::string &name,
                           const std::map<std::string, const Value *> &values);

} // namespace warpwright::regions
