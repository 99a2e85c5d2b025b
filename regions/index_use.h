// Which integers a value may hold, by the operators that index with it.
#pragma once

#include "regions/graph.h"

namespace warpwright::regions {

struct IndexUse {
  /// The least extent that is indexed, as in TensorType::extents; null: no operator indexes with the value.
  nlohmann::json limit;
  bool is_ascending = false; ///< offsets: they begin at 0 and never fall along the last dimension
};

/// How operators of a region index with a value, or with a view of it.
/// @param indices the region's nodes
/// @param values of the graph, by name
IndexUse index_use(const Graph &graph, const std::vector<std::size_t> &indices,
                   const std::string &name, const std::map<std::string, const Value *> &values);

} // namespace warpwright::regions
