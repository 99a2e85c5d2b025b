// Inputs and outputs of a set of nodes; see region.h.
#include "generator/elements/region.h"

#include "generator/ops/op_traits.h"

#include <algorithm>

namespace warpwright::elements {

using model::Node;

std::int64_t memory_extent(const model::TensorType &type) {
  if (model::elements_of(type.shape) == 0)
    return 0;
  std::int64_t last = 0;
  const model::Shape strides = model::strides_of(type);
  for (std::size_t i = 0; i < strides.size(); ++i)
    last += (type.shape[i] - 1) * strides[i];
  return last + 1;
}

Region region_of(const ops::GraphIndex &graph, const std::set<std::string> &nodes,
                 const std::string &anchor) {
  Region region;
  region.anchor = anchor;
  region.nodes.assign(nodes.begin(), nodes.end());
  std::ranges::sort(region.nodes, {},
                    [&](const std::string &name) { return graph.position(name); });
  for (const std::string &name : region.nodes) {
    const Node &node = graph.node(name);
    for (const std::string &input : node.inputs)
      if (!nodes.contains(input) && !ops::is_generated(graph.node(input)) &&
          std::ranges::find(region.inputs, input) == region.inputs.end())
        region.inputs.push_back(input);
    const bool goes_out =
        graph.is_result(name) || std::ranges::any_of(graph.users(name), [&](const Node *user) {
          return !nodes.contains(user->name);
        });
    if (goes_out && !ops::is_generated(node))
      region.outputs.push_back(name);
  }
  return region;
}

} // namespace warpwright::elements
