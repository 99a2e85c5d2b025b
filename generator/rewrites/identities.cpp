// Operations that change nothing: x + 0, x * 1, neg neg, relu of what is not negative, clamps that never bind, masks
// that choose one side everywhere, x - x. Bounds come from GraphFacts: sigmoid is within [0, 1], relu and squares are
// not negative.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {
namespace {

/// Returns the operand that the node's value equals, if there is one.
std::optional<std::string> unchanged(const GraphFacts &facts, const model::Node &node) {
  const std::string &op = node.op;
  if (op == op::relu && facts.bounds(node.inputs[0]).low >= 0)
    return node.inputs[0];
  if (op == op::abs && facts.bounds(node.inputs[0]).low >= 0)
    return node.inputs[0];
  if (op == op::leaky_relu && facts.bounds(node.inputs[0]).low >= 0)
    return node.inputs[0];
  if (op == op::neg || op == op::logical_not) {
    const model::Node &inner = facts.node(node.inputs[0]);
    const bool doubled =
        inner.op == op && (op == op::neg || facts.type(inner.inputs[0]).dtype == model::Dtype::Bool);
    return doubled ? std::optional(inner.inputs[0]) : std::nullopt;
  }
  if (op == op::where && facts.constant(node.inputs[0]))
    return node.inputs[*facts.constant(node.inputs[0]) != 0 ? 1 : 2];
  if (op == op::where && node.inputs[1] == node.inputs[2])
    return node.inputs[1];
  if ((op == op::maximum || op == op::minimum) && node.inputs[0] == node.inputs[1])
    return node.inputs[0];
  if (op == op::maximum || op == op::minimum)
    for (const std::size_t i : {0, 1}) {
      const ops::Bounds mine = facts.bounds(node.inputs[i]),
                        other = facts.bounds(node.inputs[1 - i]);
      if (op == op::maximum ? mine.low >= other.high : mine.high <= other.low)
        return node.inputs[i];
    }
  const auto constant = with_constant(facts, node);
  if (!constant)
    return std::nullopt;
  const double number = constant->number;
  const bool second = !constant->constant_first;
  if ((op == op::add && number == 0) || (op == op::sub && number == 0 && second) ||
      (op == op::mul && number == 1) || (op == op::div && number == 1 && second) ||
      (op == op::pow && number == 1 && second))
    return constant->other;
  return std::nullopt;
}

/// Returns the number that every element is although no operand is constant.
std::optional<double> cancelled(const GraphFacts &facts, const model::Node &node) {
  if (node.op == op::sub && node.inputs[0] == node.inputs[1])
    return 0;
  if (node.op == op::relu && facts.bounds(node.inputs[0]).high <= 0)
    return 0;
  const auto constant = with_constant(facts, node);
  if (node.op == op::mul && constant && constant->number == 0)
    return 0;
  if (node.op == op::maximum || node.op == op::minimum)
    if (constant) {
      const ops::Bounds other = facts.bounds(constant->other);
      if (node.op == op::maximum ? other.high <= constant->number : other.low >= constant->number)
        return constant->number;
    }
  return std::nullopt;
}

} // namespace

std::optional<Replacement> identity(const GraphFacts &facts, const model::Node &node) {
  if (node.inputs.empty() || node.op == op::aten)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  if (const auto number = cancelled(facts, node))
    return builder.finish(builder.uniform(*number, node.type()));
  const auto value = unchanged(facts, node);
  if (!value)
    return std::nullopt;
  // Where the other operand broadcast this one, an expand remains.
  return builder.finish(builder.expand(*value, node.type().shape));
}

} // namespace warpwright::rewrites
