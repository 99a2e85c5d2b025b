#include "generator/rewrites/graph_facts.h"

#include "generator/ops/op_traits.h"
#include "generator/ops/attributes.h"
#include "generator/rewrites/rewrite.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpwright::generator {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Bounds kAny{-kInfinity, kInfinity};

/// 0 * inf is 0 here: a bound of 0 times anything finite.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Bounds hull(Bounds a, Bounds b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Bounds product(Bounds a, Bounds b) {
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                            times(a.high, b.high)};
  return {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
}

/// Of a function that never decreases.
template <class Function>
Bounds monotone(Bounds x, Function &&function) {
  return {function(x.low), function(x.high)};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Bounds unary_bounds(const model::Node &node, Bounds x) {
  const std::string &op = node.op;
  if (op == "neg")
    return {-x.high, -x.low};
  if (op == "abs")
    return {x.low > 0    ? x.low
            : x.high < 0 ? -x.high
                         : 0,
            std::max(std::abs(x.low), std::abs(x.high))};
  if (op == "square") {
    const double largest = std::max(std::abs(x.low), std::abs(x.high));
    const double least = x.low > 0 ? x.low : x.high < 0 ? x.high : 0;
    return {least * least, largest * largest};
  }
  if (op == "exp")
    return monotone(x, [](double v) { return std::exp(v); });
  if (op == "sigmoid")
    return monotone(x, sigmoid);
  if (op == "tanh")
    return monotone(x, [](double v) { return std::tanh(v); });
  if (op == "relu")
    return monotone(x, [](double v) { return std::max(v, 0.0); });
  if (op == "hardsigmoid")
    return monotone(x, [](double v) { return std::clamp(v / 6 + 0.5, 0.0, 1.0); });
  if (op == "sqrt")
    return {std::sqrt(std::max(x.low, 0.0)), x.high < 0 ? 0 : std::sqrt(x.high)};
  if (op == "softplus")
    return {0, kInfinity};
  if (op == "erf" || op == "sin" || op == "cos" || op == "sign" || op == "softsign")
    return {-1, 1};
  if (op == "floor" || op == "round" || op == "trunc" || op == "ceil")
    return {std::floor(x.low), std::ceil(x.high)};
  return kAny;
}

Bounds binary_bounds(const std::string &op, Bounds a, Bounds b) {
  if (op == "add")
    return {a.low + b.low, a.high + b.high};
  if (op == "sub")
    return {a.low - b.high, a.high - b.low};
  if (op == "mul")
    return product(a, b);
  if (op == "div" && (b.low > 0 || b.high < 0) && std::isfinite(b.low) && std::isfinite(b.high))
    return product(a, {1 / b.high, 1 / b.low});
  if (op == "maximum")
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op == "minimum")
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  return kAny;
}

bool keeps_bounds(const std::string &op) {
  static constexpr std::string_view kOps[] = {"reshape",
                                              "permute",
                                              "expand",
                                              "slice",
                                              "flip",
                                              "roll",
                                              "gather",
                                              "diagonal",
                                              "index_select",
                                              "embedding",
                                              "amax",
                                              "amin",
                                              "mean",
                                              "max_pool",
                                              "adaptive_avg_pool",
                                              "adaptive_max_pool",
                                              "upsample_nearest"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

Bounds checked(Bounds bounds) {
  return std::isnan(bounds.low) || std::isnan(bounds.high) ? kAny : bounds;
}

} // namespace

GraphFacts::GraphFacts(const GraphIndex &index) : index_(index) {
  facts_.reserve(index.graph().nodes.size());
  for (const model::Node &node : index.graph().nodes) {
    Fact fact{
        .bounds = kAny, .on_inputs = node.op == "input", .on_parameters = node.op == "parameter"};
    for (const std::string &input : node.inputs) {
      fact.on_inputs |= depends_on_inputs(input);
      fact.on_parameters |= depends_on_parameters(input);
    }
    const auto of = [&](std::size_t i) { return bounds(node.inputs[i]); };
    const std::size_t count = node.inputs.size();
    const bool floating = model::is_floating(node.type().dtype);
    if (node.type().dtype == model::Dtype::Bool)
      fact.bounds = {0, 1};
    if (node.op == "constant" && !find_attribute(node, "values"))
      fact.bounds = {number_attribute(node, "value"), number_attribute(node, "value")};
    else if (count >= 1 && keeps_bounds(node.op))
      fact.bounds = of(0);
    else if (node.op == "avg_pool" && integer_attribute(node, "divisor") == 0)
      fact.bounds = hull(of(0), {0, 0});
    else if (node.op == "triu" || node.op == "tril" || node.op == "diag_embed")
      fact.bounds = hull(of(0), {0, 0});
    else if (node.op == "pad")
      fact.bounds = hull(of(0), {number_attribute(node, "value"), number_attribute(node, "value")});
    else if (node.op == "cat")
      for (std::size_t i = 0; i < count; ++i)
        fact.bounds = i == 0 ? of(0) : hull(fact.bounds, of(i));
    else if (node.op == "cast" && floating)
      fact.bounds = of(0);
    else if (node.op == "where")
      fact.bounds = hull(of(1), of(2));
    else if (node.op == "softmax")
      fact.bounds = {0, 1};
    else if (node.op == "log_softmax")
      fact.bounds = {-kInfinity, 0};
    else if (node.op == "norm" || node.op == "var")
      fact.bounds = {0, kInfinity};
    else if (node.op == "sum" || node.op == "cumsum")
      fact.bounds = {of(0).low >= 0 ? 0 : -kInfinity, of(0).high <= 0 ? 0 : kInfinity};
    else if (count == 1 && floating)
      fact.bounds = unary_bounds(node, of(0));
    else if (count == 2 && floating)
      fact.bounds = binary_bounds(node.op, of(0), of(1));
    fact.bounds = checked(fact.bounds);
    facts_.push_back(fact);
  }
}

std::optional<double> GraphFacts::constant(const std::string &name) const {
  const model::Node &node = index_.node(name);
  if (node.op == "constant" && !find_attribute(node, "values"))
    return number_attribute(node, "value");
  static constexpr std::string_view kKeeping[] = {"expand", "reshape", "permute",
                                                  "slice",  "flip",    "roll"};
  if (std::ranges::find(kKeeping, node.op) != std::end(kKeeping))
    return constant(node.inputs[0]);
  return std::nullopt;
}

bool GraphFacts::read_once(const std::string &name) const {
  const auto &users = index_.users(name);
  return users.size() == 1 && !index_.is_result(name) &&
         std::ranges::count(users.front()->inputs, name) == 1;
}

std::vector<DegenerateOutput> degenerate_outputs(const model::Graph &graph) {
  const model::Graph simplified = simplify(graph).graph;
  const GraphIndex index(simplified);
  const GraphFacts facts(index);
  std::vector<DegenerateOutput> degenerate;
  for (const std::string &output : simplified.outputs)
    if (!facts.depends_on_inputs(output))
      degenerate.push_back({output, facts.constant(output)});
  return degenerate;
}

} // namespace warpwright::generator
