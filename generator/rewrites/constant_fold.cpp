// Pointwise ops and reductions of known numbers are known numbers: computed here in double, rounded where they are used.
//
// Only of values that are one number everywhere: tables stay. A parameter is not a known number: its module may change it.
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <cmath>
#include <numbers>

namespace warpwright::generator {
namespace {

std::optional<double> folded_unary(const model::Node &node, double x) {
  const std::string &op = node.op;
  if (op == "cast" || op == "mean" || op == "amax" || op == "amin" || op == "max_pool" ||
      op == "adaptive_avg_pool" || op == "adaptive_max_pool" || op == "upsample_nearest")
    return x;
  if (op == "neg")
    return -x;
  if (op == "abs")
    return std::abs(x);
  if (op == "square")
    return x * x;
  if (op == "sqrt")
    return std::sqrt(x);
  if (op == "rsqrt")
    return 1 / std::sqrt(x);
  if (op == "reciprocal")
    return 1 / x;
  if (op == "exp")
    return std::exp(x);
  if (op == "log")
    return std::log(x);
  if (op == "log1p")
    return std::log1p(x);
  if (op == "tanh")
    return std::tanh(x);
  if (op == "relu")
    return x < 0 ? 0 : x;
  if (op == "leaky_relu")
    return x < 0 ? number_attribute(node, "negative_slope", 0.01) * x : x;
  if (op == "sigmoid")
    return 1 / (1 + std::exp(-x));
  if (op == "silu")
    return x / (1 + std::exp(-x));
  if (op == "mish")
    return x * std::tanh(std::log1p(std::exp(x)));
  if (op == "gelu" && text_attribute(node, "approximate", "none") == "none")
    return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  if (op == "gelu" && x == 0)
    return 0;
  if (op == "hardswish")
    return x * std::fmin(std::fmax(x + 3, 0), 6) / 6;
  if (op == "hardsigmoid")
    return std::fmin(std::fmax(x + 3, 0), 6) / 6;
  return std::nullopt;
}

std::optional<double> folded_binary(const std::string &op, double a, double b) {
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return a * b;
  if (op == "div" && b != 0)
    return a / b;
  if (op == "pow")
    return std::pow(a, b);
  if (op == "maximum")
    return std::fmax(a, b);
  if (op == "minimum")
    return std::fmin(a, b);
  if (op == "eq")
    return a == b;
  if (op == "ne")
    return a != b;
  if (op == "lt")
    return a < b;
  if (op == "le")
    return a <= b;
  if (op == "gt")
    return a > b;
  if (op == "ge")
    return a >= b;
  return std::nullopt;
}

/// Ops of a value that is one number everywhere, whatever their window or line.
std::optional<double> folded_line(const GraphFacts &facts, const model::Node &node, double x) {
  const model::Shape &shape = facts.type(node.inputs[0]).shape;
  if (node.op == "sum")
    return x * static_cast<double>(extent_of(shape, reduced_dims(node, shape.size())));
  if (node.op == "logsumexp")
    return x + std::log(static_cast<double>(extent_of(shape, reduced_dims(node, shape.size()))));
  if (node.op == "softmax" || node.op == "log_softmax") {
    const auto extent =
        static_cast<double>(shape[static_cast<std::size_t>(integer_attribute(node, "dim"))]);
    return node.op == "softmax" ? 1 / extent : -std::log(extent);
  }
  return std::nullopt;
}

} // namespace

std::optional<Replacement> fold_constants(const GraphFacts &facts, const model::Node &node) {
  std::optional<double> number;
  if (node.inputs.size() == 1)
    if (const auto x = facts.constant(node.inputs[0])) {
      number = folded_unary(node, *x);
      if (!number)
        number = folded_line(facts, node, *x);
      // A cast to an integer truncates, and to a boolean compares.
      if (node.op == "cast" && !model::is_floating(node.type().dtype))
        number = node.type().dtype == model::Dtype::Bool ? *x != 0 : std::trunc(*x);
    }
  if (node.inputs.size() == 2)
    if (const auto a = facts.constant(node.inputs[0]), b = facts.constant(node.inputs[1]); a && b)
      number = folded_binary(node.op, *a, *b);
  if (!number || std::isnan(*number))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  return builder.finish(builder.uniform(*number, node.type()));
}

} // namespace warpwright::generator
