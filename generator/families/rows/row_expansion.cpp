// Expansion of a region's composite nodes; see row_expansion.h.
#include "generator/families/rows/row_expansion.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"

#include <set>

namespace warpwright::families::rows {
namespace {

using model::Node;
using model::TensorType;

/// Appends the node to the graph, expanded if it is composite.
/// @param later results 1 and up of batch_norm nodes, by node
Result<void> expand_node(model::Graph &graph, const Node &node, const TensorType *x,
                         std::map<std::string, std::vector<std::string>> &later) {
  if (const ops::Expand expand = ops::op_of(node).expand) {
    ops::Expander out(graph, node, x->dtype);
    auto results = expand(out, node, *x);
    if (!results)
      return std::unexpected(results.error());
    later[node.name] = std::move(*results);
  } else if (node.op == op::item && later.contains(node.inputs[0])) {
    const auto index = static_cast<std::size_t>(ops::integer_attribute(node, "index"));
    const auto &results = later[node.inputs[0]];
    if (index > results.size())
      return fail("result " + std::to_string(index) + " of " + node.inputs[0] + " does not exist");
    ops::Expander(graph, node, node.type().dtype)
        .finish(op::reshape, {index == 0 ? node.inputs[0] : results[index - 1]});
  } else {
    graph.nodes.push_back(node);
  }
  return {};
}

} // namespace

Result<ExpandedRegion> expand_region(const ops::GraphIndex &graph, const elements::Region &region) {
  ExpandedRegion result;
  std::set<std::string> known;
  for (const std::string &name : region.inputs) {
    result.graph.nodes.push_back({name, op::input, {}, {}, {graph.node(name).type()}});
    known.insert(name);
  }
  std::map<std::string, std::vector<std::string>> later;
  for (const std::string &name : region.nodes) {
    const Node &node = graph.node(name);
    for (const std::string &input : node.inputs) {
      if (known.contains(input))
        continue;
      const Node &leaf = graph.node(input);
      if (leaf.op != op::constant && leaf.op != op::iota)
        return fail("the region of " + region.anchor + " lacks its input " + input);
      result.graph.nodes.push_back(leaf);
      known.insert(input);
    }
    const TensorType *x = node.inputs.empty() ? nullptr : &graph.node(node.inputs[0]).type();
    if (auto expanded = expand_node(result.graph, node, x, later); !expanded)
      return std::unexpected(expanded.error());
    known.insert(name);
  }
  const std::set<std::string> inputs(region.inputs.begin(), region.inputs.end());
  for (const Node &node : result.graph.nodes)
    if (!inputs.contains(node.name))
      result.region.nodes.push_back(node.name);
  result.region.anchor = region.anchor;
  result.region.inputs = region.inputs;
  result.region.outputs = region.outputs;
  result.region.strides = region.strides;
  result.graph.outputs = region.outputs;
  return result;
}

} // namespace warpwright::families::rows
