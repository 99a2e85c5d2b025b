// Division of a graph into regions: runs of operators that one plan may compute.
//
// Each region is an interval of one topological order, so no path leaves a region and comes back. A
// region ends before operators that write, draw random numbers, or have results whose size depends
// on data. Long runs are cut where the fewest bytes cross, as late as possible. In a network of
// layers, that is between layers or in their middle, so that equal layers become a few kinds of
// regions. Operators that one kernel computes for each element, as those of a long formula, hardly
// count: a cut among them would store what the kernel keeps in registers. Where many bytes cross
// everywhere, a region may be longer.
#pragma once

#include "regions/graph.h"

#include <optional>

namespace warpwright::regions {

struct Limits {
  /// Work of a part of a longer run: an operator that a kernel computes for each element counts 1, others that compute
  /// kAnchor, views nothing.
  int fewest = 32, most = 400;
  /// The same of runs with many convolutions: they hand channels-last values on only within a region.
  int fewest_convolving = 2400, most_convolving = 9600;
  static constexpr int kAnchor = 24;
};

/// Regions as indices into graph.nodes, in an order in which the nodes can run.
std::vector<std::vector<std::size_t>> partition(const Graph &graph, const Limits &limits = {});

/// Indices of nodes that write or draw random numbers; they must keep their order when plans replace regions.
std::vector<std::size_t> ordered_nodes(const Graph &graph);

/// Positions of an attention operator's arguments after query, key and value.
struct Attention {
  std::optional<std::size_t> bias;
  std::size_t dropout = 3, causal = 4;
};
/// nullopt for another operator, and for attention with dropout, which draws random numbers.
std::optional<Attention> attention_of(const std::string &op, const nlohmann::json &args);

/// True for Inductor's form of max_pool2d and max_pool3d, (input, kernel, stride, padding, dilation, ceil_mode), whose second
/// result is where the maxima lie.
bool is_max_pool(const std::string &op);

/// The reason why no region may hold the node, whatever the graph; empty when one may.
std::string reason_against(const Node &node);

/// The reasons by node. Regions hold operators of one device: that of most operators.
std::vector<std::string> reasons_against(const Graph &graph);

} // namespace warpwright::regions
