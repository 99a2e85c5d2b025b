// Stacks: values of one shape joined along a new dimension. Views and pointwise ops of a stack are
// computed for each part before the parts are stacked. Shared values, such as the factors
// of a color conversion, are then computed once for all of them. Each part is stored in its place.
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

constexpr std::size_t kMostParts = 8;

std::size_t dim_of(const model::Node &cat) {
  return static_cast<std::size_t>(ops::integer_attribute(cat, "dim"));
}

/// True for a `cat` of at most kMostParts pointwise values of extent 1, or views of them, with one reader.
bool is_stack(const GraphFacts &facts, const model::Node &node) {
  return node.op == op::cat && node.inputs.size() <= kMostParts && facts.read_once(node.name) &&
         std::ranges::all_of(node.inputs, [&](const std::string &part) {
           return facts.type(part).shape[dim_of(node)] == 1 &&
                  ops::is_pointwise(behind_views(facts, part));
         });
}

std::optional<Replacement> finished(ReplacementBuilder &builder, std::vector<std::string> parts,
                                    std::size_t dim) {
  return builder.finish(
      builder.op(op::cat, std::move(parts), {{"dim", static_cast<std::int64_t>(dim)}}));
}

std::optional<Replacement> stack_of_views(const GraphFacts &facts, const model::Node &view) {
  const model::Node &stack = facts.node(view.inputs[0]);
  if (!is_stack(facts, stack))
    return std::nullopt;
  const auto from = static_cast<std::int64_t>(dim_of(stack));
  const auto dims = ops::list_attribute(view, "dims");
  const auto to = view.op == op::permute ? std::optional<std::int64_t>(std::ranges::find(*dims, from) - dims->begin())
                                         : same_dim(stack.type().shape, from, view.type().shape);
  if (!to)
    return std::nullopt;
  ReplacementBuilder builder(facts, view);
  model::Shape shape = view.type().shape;
  shape[static_cast<std::size_t>(*to)] = 1;
  std::vector<std::string> parts;
  for (const std::string &part : stack.inputs)
    parts.push_back(view.op == op::permute ? builder.permute(part, *dims)
                                           : builder.reshape(part, shape));
  return finished(builder, std::move(parts), static_cast<std::size_t>(*to));
}

std::optional<Replacement> stack_of_results(const GraphFacts &facts, const model::Node &node) {
  const model::Shape &shape = node.type().shape;
  const auto is_whole = [&](const model::Node &operand) {
    return operand.op == op::cat && operand.type().shape == shape;
  };
  std::optional<std::size_t> dim;
  for (const std::string &input : node.inputs)
    if (const model::Node &operand = facts.node(input); is_whole(operand)) {
      if (!is_stack(facts, operand) || dim.value_or(dim_of(operand)) != dim_of(operand))
        return std::nullopt;
      dim = dim_of(operand);
    }
  if (!dim)
    return std::nullopt;
  model::Shape of_part = shape;
  of_part[*dim] = 1;
  ReplacementBuilder builder(facts, node);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape[*dim]); ++i) {
    std::vector<std::string> inputs;
    for (const std::string &input : node.inputs) {
      const model::Node &operand = facts.node(input);
      if (!is_whole(operand) && aligned(operand.type().shape, shape.size())[*dim] != 1)
        return std::nullopt;
      inputs.push_back(is_whole(operand) ? operand.inputs[i] : input);
    }
    parts.push_back(with_inputs(builder, node, std::move(inputs), of_part));
  }
  return finished(builder, std::move(parts), *dim);
}

} // namespace

std::optional<Replacement> recognise_stack(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::reshape || facts.node(node.inputs[0]).op != op::cat)
    return std::nullopt;
  const model::Node &joined = facts.node(node.inputs[0]);
  const model::Shape &to = node.type().shape, &part = facts.type(joined.inputs[0]).shape;
  const auto dim = static_cast<std::size_t>(ops::integer_attribute(joined, "dim"));
  const auto parts = static_cast<std::int64_t>(joined.inputs.size());
  if (!facts.read_once(joined.name) || part[dim] == 1 ||
      !std::ranges::all_of(joined.inputs, [&](const std::string &one) { return facts.type(one).shape == part; }))
    return std::nullopt;
  const std::int64_t outer = elements_of(part, 0, dim);
  std::size_t at = 0;
  while (at < to.size() && (elements_of(to, 0, at) != outer || to[at] == 1))
    ++at;
  if (at == to.size() || to[at] != parts)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  model::Shape shape = to;
  shape[at] = 1;
  std::vector<std::string> values;
  for (const std::string &one : joined.inputs)
    values.push_back(builder.reshape(one, shape));
  return finished(builder, std::move(values), at);
}

std::optional<Replacement> stack_late(const GraphFacts &facts, const model::Node &node) {
  if (node.types.size() != 1)
    return std::nullopt;
  if (node.op == op::reshape || node.op == op::permute)
    return stack_of_views(facts, node);
  return ops::is_pointwise(node) ? stack_of_results(facts, node) : std::nullopt;
}

} // namespace warpwright::rewrites
