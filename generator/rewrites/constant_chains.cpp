// Merging of the numbers in a chain: (x * a) * b, (x + a) + b, x / a with a power of two, clamps within clamps. The
// inner node must have no other reader, so that work is saved and rounding happens once less.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>
#include <cmath>

namespace warpwright::rewrites {
namespace {

/// A node of the form x * scale or x + shift.
struct Affine {
  std::string x;
  bool is_scale;
  double number;
};

std::optional<Affine> affine(const GraphFacts &facts, const model::Node &node) {
  if (node.op == op::neg)
    return Affine{node.inputs[0], true, -1};
  const auto constant = with_constant(facts, node);
  if (!constant || !model::is_floating(node.type().dtype) ||
      facts.type(constant->other).shape != node.type().shape)
    return std::nullopt;
  if (node.op == op::mul)
    return Affine{constant->other, true, constant->number};
  if (node.op == op::div && !constant->constant_first && constant->number != 0)
    return Affine{constant->other, true, 1 / constant->number};
  if (node.op == op::add)
    return Affine{constant->other, false, constant->number};
  if (node.op == op::sub && !constant->constant_first)
    return Affine{constant->other, false, -constant->number};
  return std::nullopt;
}

bool is_power_of_two(double number) {
  int exponent = 0;
  return std::isfinite(number) && std::abs(std::frexp(number, &exponent)) == 0.5;
}

} // namespace

std::optional<Replacement> merge_constants(const GraphFacts &facts, const model::Node &node) {
  ReplacementBuilder builder(facts, node);
  const auto constant = with_constant(facts, node);
  if (constant && node.op == op::div && !constant->constant_first &&
      model::is_floating(node.type().dtype) && is_power_of_two(constant->number))
    return builder.finish(builder.op(
        op::mul, {constant->other, builder.constant(1 / constant->number, node.type().dtype)}));
  if (constant && (node.op == op::maximum || node.op == op::minimum)) {
    const model::Node &inner = facts.node(constant->other);
    const auto within = with_constant(facts, inner);
    if (within && inner.op == node.op && facts.read_once(inner.name) &&
        facts.type(within->other).shape == node.type().shape)
      return builder.finish(builder.with_number(node.op, within->other,
                                                node.op == op::maximum
                                                    ? std::max(constant->number, within->number)
                                                    : std::min(constant->number, within->number)));
    if (node.op == op::maximum && constant->number <= 0 && inner.op == op::relu)
      return existing(inner.name);
  }
  const auto outer = affine(facts, node);
  if (!outer || !facts.read_once(outer->x))
    return std::nullopt;
  const auto inner = affine(facts, facts.node(outer->x));
  if (!inner || inner->is_scale != outer->is_scale)
    return std::nullopt;
  const double number =
      outer->is_scale ? inner->number * outer->number : inner->number + outer->number;
  return builder.finish(builder.with_number(outer->is_scale ? op::mul : op::add, inner->x, number));
}

} // namespace warpwright::rewrites
