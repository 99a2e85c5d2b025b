// Permutes moved behind what does not need their order: pointwise ops of operands in the same other order, and
// reductions. The ops then read memory in its own order; a reduction over everything needs no permute at all.
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

/// An operand with at most this part of the result's elements may be read in another order than it lies in memory.
constexpr std::int64_t kSmallPart = 8;

model::Shape inverse(const model::Shape &dims) {
  model::Shape result(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    result[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
  return result;
}

model::Shape permuted(const model::Shape &shape, const model::Shape &dims) {
  model::Shape result;
  for (const std::int64_t dim : dims)
    result.push_back(shape[static_cast<std::size_t>(dim)]);
  return result;
}

/// Returns the order that all operands as large as the result have; nullopt where one of them is no permute.
std::optional<model::Shape> common_order(const GraphFacts &facts, const model::Node &node) {
  const model::Shape &shape = node.type().shape;
  std::optional<model::Shape> order;
  for (const std::string &input : node.inputs) {
    const model::Node &operand = facts.node(input);
    if (operand.types.size() != 1 ||
        model::elements_of(operand.type().shape) * kSmallPart <= model::elements_of(shape))
      continue;
    if (operand.op != op::permute || operand.type().shape != shape)
      return std::nullopt;
    const auto dims = ops::list_attribute(operand, "dims");
    if (!dims || order.value_or(*dims) != *dims)
      return std::nullopt;
    order = dims;
  }
  return order;
}

std::optional<Replacement> behind_pointwise(const GraphFacts &facts, const model::Node &node) {
  const auto order = common_order(facts, node);
  if (!order)
    return std::nullopt;
  const model::Shape back = inverse(*order);
  ReplacementBuilder builder(facts, node);
  std::vector<std::string> inputs;
  for (const std::string &input : node.inputs) {
    const model::Node &operand = facts.node(input);
    const model::Shape &shape = operand.type().shape;
    if (operand.op == op::permute && shape == node.type().shape)
      inputs.push_back(operand.inputs[0]);
    else if (model::elements_of(shape) == 1)
      inputs.push_back(builder.reshape(input, {}));
    else
      inputs.push_back(
          builder.permute(builder.reshape(input, aligned(shape, order->size())), back));
  }
  const std::string value =
      with_inputs(builder, node, std::move(inputs), permuted(node.type().shape, back));
  return builder.finish(builder.permute(value, *order));
}

std::optional<Replacement> behind_reduction(const GraphFacts &facts, const model::Node &node) {
  const model::Node &operand = facts.node(node.inputs[0]);
  const auto order =
      operand.op == op::permute ? ops::list_attribute(operand, "dims") : std::nullopt;
  if (!order)
    return std::nullopt;
  model::Shape dims, kept;
  const model::Shape reduced = ops::reduced_dims(node, order->size());
  for (std::size_t i = 0; i < order->size(); ++i)
    (contains(reduced, static_cast<std::int64_t>(i)) ? dims : kept).push_back((*order)[i]);
  if (!std::ranges::is_sorted(kept)) // the result would have to be permuted
    return std::nullopt;
  std::ranges::sort(dims);
  ReplacementBuilder builder(facts, node);
  model::Attributes attributes = node.attributes;
  attributes.insert_or_assign("dims", dims);
  attributes.insert_or_assign("keepdim", false);
  return builder.finish(
      builder.node(node.op, {operand.inputs[0]}, std::move(attributes),
                   {node.type().dtype, permuted(facts.type(operand.inputs[0]).shape, kept), {}}));
}

} // namespace

std::optional<Replacement> permute_late(const GraphFacts &facts, const model::Node &node) {
  using enum ops::Reduction;
  if (node.types.size() != 1 || node.inputs.empty() || facts.node(node.inputs[0]).types.size() != 1)
    return std::nullopt;
  if (ops::is_pointwise(node))
    return behind_pointwise(facts, node);
  const ops::Reduction reduction = ops::op_of(node).reduction;
  const bool is_free = reduction != None && reduction != ArgMaximum && reduction != ArgMinimum;
  return is_free && node.inputs.size() == 1 ? behind_reduction(facts, node) : std::nullopt;
}

} // namespace warpwright::rewrites
