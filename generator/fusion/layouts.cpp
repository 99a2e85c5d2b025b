#include "generator/fusion/layouts.h"

#include "generator/fusion/aten_lowering.h"
#include "generator/graph/attributes.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

bool is_channels_last(const model::Node &node, const AnchorChoices &choices) {
  const auto choice = choices.find(node.name);
  return node.op == "conv" && choice != choices.end() && choice->second.channels_last &&
         choice->second.family == "aten" &&
         (node.type().shape.size() == 4 || node.type().shape.size() == 5);
}

} // namespace

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

model::Graph with_layouts(const model::Graph &graph, const AnchorChoices &choices) {
  if (std::ranges::none_of(graph.nodes,
                           [&](const auto &node) { return is_channels_last(node, choices); }))
    return graph;
  const GraphIndex index(graph);
  model::Graph result = graph;
  result.nodes.clear();
  std::map<std::string, std::string> laid_out;
  const auto lay_out = [&](std::string &value) {
    const model::Node &source = index.node(value);
    if (is_channels_last(source, choices))
      return;
    auto [known, added] = laid_out.try_emplace(value, value + "_channels_last");
    if (added) {
      model::Node node{known->second, std::string(kLayoutOp), {value}, {}, {source.type()}};
      node.types[0].strides = channels_last_strides(source.type().shape);
      result.nodes.push_back(std::move(node));
    }
    value = known->second;
  };
  for (model::Node node : graph.nodes) {
    const bool last = is_channels_last(node, choices);
    if (last)
      for (int i = 0; i < 2; ++i)
        lay_out(node.inputs[i]);
    const std::string name = node.name;
    const model::TensorType type = node.type();
    result.nodes.push_back(std::move(node));
    if (!last || !index.is_result(name))
      continue;
    // Results are contiguous: the value is copied.
    const std::string copy = name + "_contiguous";
    result.nodes.push_back({copy, "reshape", {name}, {}, {{type.dtype, type.shape, {}}}});
    std::ranges::replace(result.outputs, name, copy);
    for (model::Update &update : result.updates)
      if (update.value == name)
        update.value = copy;
  }
  return result;
}

model::Graph with_separate_bias(const model::Graph &graph) {
  const GraphIndex index(graph);
  model::Graph result = graph;
  result.nodes.clear();
  for (const model::Node &node : graph.nodes) {
    if (node.op != "conv" || node.inputs.size() < 3) {
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
    result.nodes.push_back({reshaped, "reshape", {node.inputs[2]}, {}, {{bias.dtype, shape, {}}}});
    result.nodes.push_back({node.name, "add", {product.name, reshaped}, {}, {node.type()}});
  }
  return result;
}

std::map<std::string, model::Shape> value_strides(const GraphIndex &graph,
                                                  const AnchorChoices &choices) {
  std::map<std::string, model::Shape> strides;
  for (const model::Node &node : graph.graph().nodes) {
    if (node.op == kLayoutOp)
      strides.emplace(node.name, node.type().strides);
    else if (is_channels_last(node, choices))
      strides.emplace(node.name, channels_last_strides(node.type().shape));
    else if (const bool recorded = node.op == "aten" ||
                                   (node.op == "item" && graph.node(node.inputs[0]).op == "aten");
             recorded && !node.type().strides.empty() && !model::is_contiguous(node.type()))
      strides.emplace(node.name, node.type().strides);
  }
  return strides;
}

} // namespace warpwright::generator
