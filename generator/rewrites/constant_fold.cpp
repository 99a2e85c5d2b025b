// Constant folding of pointwise ops and reductions of known numbers, computed in double, rounded at uses. Only values
// that are one number everywhere fold; tables stay. A parameter is not known, since its module may change it.
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <cmath>

namespace warpwright::rewrites {
namespace {

std::optional<double> value_of(const ops::Op &op, const model::Node &node,
                               std::initializer_list<double> operands) {
  if (!op.formula.value)
    return std::nullopt;
  const double value = op.formula.value(node, {operands.begin(), operands.size()});
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Returns the result of an op along a window or line of a value that is one number everywhere.
std::optional<double> folded_line(const GraphFacts &facts, const model::Node &node, double x) {
  const model::Shape &shape = facts.type(node.inputs[0]).shape;
  if (node.op == op::sum)
    return x * static_cast<double>(extent_of(shape, ops::reduced_dims(node, shape.size())));
  if (node.op == op::logsumexp)
    return x +
           std::log(static_cast<double>(extent_of(shape, ops::reduced_dims(node, shape.size()))));
  if (node.op == op::softmax || node.op == op::log_softmax) {
    const auto extent =
        static_cast<double>(shape[static_cast<std::size_t>(ops::integer_attribute(node, "dim"))]);
    return node.op == op::softmax ? 1 / extent : -std::log(extent);
  }
  return std::nullopt;
}

} // namespace

std::optional<Replacement> fold_constants(const GraphFacts &facts, const model::Node &node) {
  const ops::Op &op = ops::op_of(node);
  std::optional<double> number;
  if (node.inputs.size() == 1)
    if (const auto x = facts.constant(node.inputs[0])) {
      number = op.keeps_uniform   ? *x
               : op.formula.value ? value_of(op, node, {*x})
                                  : folded_line(facts, node, *x);
      // A cast to an integer truncates, and to a boolean compares.
      if (node.op == op::cast && !model::is_floating(node.type().dtype))
        number = node.type().dtype == model::Dtype::Bool ? *x != 0 : std::trunc(*x);
    }
  if (node.inputs.size() == 2)
    if (const auto a = facts.constant(node.inputs[0]), b = facts.constant(node.inputs[1]); a && b)
      number = value_of(op, node, {*a, *b});
  if (!number || std::isnan(*number))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  return builder.finish(builder.uniform(*number, node.type()));
}

} // namespace warpwright::rewrites
