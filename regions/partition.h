// Regions of a graph: runs of operators that one plan may compute.
//
// Each is an interval of one topological order, so no path leaves a region and comes back. What no region may hold ends one: operators
// that write, draw random numbers, or give results whose size depends on data. Long runs are cut where the fewest values cross, which in
// a network of layers is between them, so that equal layers become equal regions.
#pragma once

#include "regions/graph.h"

#include <optional>

namespace warpwright::regions {

struct Limits {
  int fewest = 4; ///< operators that compute, of a part of a longer run
  int most = 48;
};

/// Indices into graph.nodes, each region's in an order in which they can run.
std::vector<std::vector<std::size_t>> partition(const Graph &graph, const Limits &limits = {});

/// Nodes that write or draw random numbers, by their index: they keep their order when regions are exchanged.
std::vector<std::size_t> ordered_nodes(const Graph &graph);

/// Where an implementation of attention has its arguments, behind query, key and value.
struct Attention {
  std::optional<std::size_t> bias;
  std::size_t dropout = 3, causal = 4;
};
/// Absent: another operator, or an attention that draws random numbers.
std::optional<Attention> attention_of(const std::string &op, const nlohmann::json &args);

/// Why no region may hold the node; empty: one may.
std::string reason_against(const Node &node);

} // namespace warpwright::regions
