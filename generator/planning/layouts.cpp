#include "generator/planning/layouts.h"

#include "generator/ops/names.h"
#include "generator/planning/channels_last.h"
#include "generator/planning/channels_last_values.h"
#include "generator/ops/attributes.h"
#include "generator/ops/op_traits.h"

#include <algorithm>

namespace warpwright::planning {
model::Shape channels_last_strides(const model::Shape &shape) {
  model::Shape strides(shape.size(), 1);
  std::int64_t next = shape[1];
  for (std::size_t d = shape.size(); d-- > 2;) {
    strides[d] = next;
    next *= shape[d];
  }
  strides[0] = next;
  return strides;
}

model::Graph with_separate_bias(const model::Graph &graph) {
  const ops::GraphIndex index(graph);
  model::Graph result = graph;
  result.nodes.clear();
  for (const model::Node &node : graph.nodes) {
    if (node.op != op::conv || node.inputs.size() < 3) {
      result.nodes.push_back(node);
      continue;
    }
    model::Node product = node;
    const model::TensorType bias = index.node(node.inputs[2]).type();
    product.name += "_product";
    product.inputs.pop_back();
    model::Shape shape(node.type().shape.size() - 1, 1);
    shape[0] = node.type().shape[1];
    const std::string reshaped = node.name + "_bias";
    result.nodes.push_back(product);
    result.nodes.push_back({reshaped, op::reshape, {node.inputs[2]}, {}, {{bias.dtype, shape, {}}}});
    result.nodes.push_back({node.name, op::add, {product.name, reshaped}, {}, {node.type()}});
  }
  return result;
}

std::map<std::string, model::Shape> value_strides(const ops::GraphIndex &graph,
                                                  const AnchorChoices &choices) {
  std::map<std::string, model::Shape> strides;
  for (const model::Node &node : graph.graph().nodes) {
    if (node.op == ops::kLayoutOp ||
        (node.op == op::item && graph.node(node.inputs[0]).op == ops::kLayoutsOp))
      strides.emplace(node.name, node.type().strides);
    else if (is_channels_last(node, choices) ||
             ops::flag_attribute(node, std::string(kChannelsLast)))
      strides.emplace(node.name, channels_last_strides(node.type().shape));
    else if (const bool recorded = node.op == op::aten ||
                                   (node.op == op::item && graph.node(node.inputs[0]).op == op::aten);
             recorded && !node.type().strides.empty() && !model::is_contiguous(node.type()))
      strides.emplace(node.name, node.type().strides);
  }
  return strides;
}

} // namespace warpwright::planning
