#include "generator/planning/layouts.h"

#include "generator/elements/memory_view.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/channels_last.h"
#include "generator/planning/channels_last_values.h"

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

namespace {

/// Returns strides in which the dimensions lie in memory in this order.
model::Shape strides_in(const model::Shape &shape, const model::Shape &order) {
  model::Shape strides(shape.size(), 1);
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[static_cast<std::size_t>(order[i])] = next;
    next *= shape[static_cast<std::size_t>(order[i])];
  }
  return strides;
}

/// True if the dimensions of a view lie in memory in this order. Gaps between rows are allowed.
bool lies_in(const elements::MemoryView &view, const model::Shape &order) {
  std::int64_t least = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<std::size_t>(order[i]);
    if (view.shape[dim] == 1)
      continue;
    if (view.strides[dim] < least)
      return false;
    least = view.strides[dim] * view.shape[dim];
  }
  return view.strides[static_cast<std::size_t>(order.back())] == 1;
}

/// Lays out an attention's result as PyTorch's kernels do, since a result in another layout is copied: in half
/// precision like the query, else with the heads of a token side by side. Where readers want that, a query that a kernel
/// stores gets the same layout.
void lay_out_attention(const ops::GraphIndex &graph, const model::Node &attention,
                       std::map<std::string, model::Shape> &strides) {
  const model::Shape by_token = {0, 2, 1, 3}, &shape = attention.type().shape;
  if (shape.size() != 4 || graph.is_result(attention.name))
    return;
  const elements::MemoryView query = elements::view_of(graph, attention.inputs[0], strides);
  const model::Node &root = graph.node(query.root);
  const bool is_half = model::size_bytes(attention.type().dtype) == 2;
  const bool is_read_by_token =
      std::ranges::all_of(graph.users(attention.name), [&](const model::Node *reader) {
        return reader->op == op::permute && ops::list_attribute(*reader, "dims") == by_token;
      });
  bool is_by_token = !is_half || lies_in(query, by_token);
  if (is_half && is_read_by_token && query.root == attention.inputs[0] && ops::is_pointwise(root) &&
      !graph.is_result(root.name)) {
    strides.emplace(root.name, strides_in(root.type().shape, by_token));
    is_by_token = true;
  }
  if (is_by_token)
    strides.emplace(attention.name, strides_in(shape, by_token));
}

} // namespace

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
    else if (node.op == op::attention)
      lay_out_attention(graph, node, strides);
  }
  return strides;
}

} // namespace warpwright::planning
