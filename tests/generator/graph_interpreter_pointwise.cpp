#include "generator/ops/attributes.h"
#include "tests/generator/graph_interpreter_ops.h"

#include <functional>
#include <limits>
#include <map>
#include <numbers>

namespace warpwright::generator {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/// log(1 + e^x) without overflow.
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

const std::map<std::string, Unary> &unary_ops() {
  static const std::map<std::string, Unary> table = {
      {"neg", [](double x) { return -x; }},
      {"abs", [](double x) { return std::abs(x); }},
      {"sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }},
      {"exp", [](double x) { return std::exp(x); }},
      {"expm1", [](double x) { return std::expm1(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log1p", [](double x) { return std::log1p(x); }},
      {"log2", [](double x) { return std::log2(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"reciprocal", [](double x) { return 1 / x; }},
      {"sin", [](double x) { return std::sin(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"erfc", [](double x) { return std::erfc(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"round", [](double x) { return std::nearbyint(x); }},
      {"trunc", [](double x) { return std::trunc(x); }},
      {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
      {"relu", [](double x) { return x < 0 ? 0.0 : x; }},
      {"sigmoid", sigmoid},
      {"silu", [](double x) { return x * sigmoid(x); }},
      {"mish", [](double x) { return x * std::tanh(softplus(x)); }},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"hardsigmoid", [](double x) { return clamp(x + 3, 0, 6) / 6; }},
      {"hardswish", [](double x) { return x * clamp(x + 3, 0, 6) / 6; }},
      {"square", [](double x) { return x * x; }},
      {"cast", [](double x) { return x; }},
  };
  return table;
}

double remainder_of(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

const std::map<std::string, Binary> &binary_ops() {
  static const std::map<std::string, Binary> table = {
      {"add", [](double a, double b) { return a + b; }},
      {"sub", [](double a, double b) { return a - b; }},
      {"mul", [](double a, double b) { return a * b; }},
      {"div", [](double a, double b) { return a / b; }},
      {"pow", [](double a, double b) { return std::pow(a, b); }},
      {"maximum", [](double a, double b) { return std::isnan(a) || a > b ? a : b; }},
      {"minimum", [](double a, double b) { return std::isnan(a) || a < b ? a : b; }},
      {"remainder", remainder_of},
      {"atan2", [](double a, double b) { return std::atan2(a, b); }},
      {"eq", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"ne", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
      {"lt", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"le", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"gt", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"ge", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"logical_and", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {"logical_or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {"logical_xor", [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }},
  };
  return table;
}

/// Unary ops with attributes.
std::function<double(double)> parameterised(const model::Node &node) {
  if (node.op == "gelu" && text_attribute(node, "approximate", "none") == "tanh")
    return [](double x) {
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    };
  if (node.op == "gelu")
    return [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); };
  if (node.op == "elu")
    return [alpha = number_attribute(node, "alpha", 1), scale = number_attribute(node, "scale", 1),
            input_scale = number_attribute(node, "input_scale", 1)](double x) {
      return x > 0 ? scale * x : scale * alpha * std::expm1(x * input_scale);
    };
  if (node.op == "leaky_relu")
    return [slope = number_attribute(node, "negative_slope", 0.01)](double x) {
      return x < 0 ? slope * x : x;
    };
  if (node.op == "softplus")
    return [beta = number_attribute(node, "beta", 1),
            threshold = number_attribute(node, "threshold", 20)](double x) {
      return x * beta > threshold ? x : softplus(x * beta) / beta;
    };
  return {};
}

} // namespace

model::Shape broadcast_shape(const model::Shape &a, const model::Shape &b) {
  model::Shape shape = a.size() >= b.size() ? a : b;
  const model::Shape &other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < other.size(); ++i)
    if (std::int64_t &extent = shape[shape.size() - other.size() + i]; extent == 1)
      extent = other[i];
  return shape;
}

model::Dtype promote(model::Dtype a, model::Dtype b) {
  using model::Dtype;
  if (a == b)
    return a;
  if (model::is_floating(a) != model::is_floating(b))
    return model::is_floating(a) ? a : b;
  if (model::is_floating(a)) // float16 with bfloat16 gives float32
    return model::size_bytes(a) == model::size_bytes(b)  ? Dtype::Float32
           : model::size_bytes(a) > model::size_bytes(b) ? a
                                                         : b;
  if (a == Dtype::Bool || b == Dtype::Bool)
    return a == Dtype::Bool ? b : a;
  if (model::size_bytes(a) == model::size_bytes(b)) // uint8 with int8 gives int16
    return Dtype::Int16;
  return model::size_bytes(a) > model::size_bytes(b) ? a : b;
}

Results interpret_pointwise(const model::Node &node, const Operands &inputs) {
  std::function<double(double)> unary = parameterised(node);
  if (const auto found = unary_ops().find(node.op); found != unary_ops().end())
    unary = found->second;
  if (unary) {
    Array result = *inputs[0];
    if (node.op == "cast" && !node.types.empty())
      result.dtype = node.type().dtype;
    for (double &value : result.values)
      value = unary(value);
    return std::vector{std::move(result)};
  }
  if (const auto found = binary_ops().find(node.op); found != binary_ops().end()) {
    Array result(promote(inputs[0]->dtype, inputs[1]->dtype),
                 broadcast_shape(inputs[0]->shape, inputs[1]->shape));
    std::size_t next = 0;
    for_each_index(result.shape, [&](const model::Shape &index) {
      result.values[next++] =
          found->second(inputs[0]->broadcast_at(index), inputs[1]->broadcast_at(index));
    });
    return std::vector{std::move(result)};
  }
  if (node.op == "where") {
    Array result(
        promote(inputs[1]->dtype, inputs[2]->dtype),
        broadcast_shape(inputs[0]->shape, broadcast_shape(inputs[1]->shape, inputs[2]->shape)));
    std::size_t next = 0;
    for_each_index(result.shape, [&](const model::Shape &index) {
      result.values[next++] =
          inputs[inputs[0]->broadcast_at(index) != 0 ? 1 : 2]->broadcast_at(index);
    });
    return std::vector{std::move(result)};
  }
  return std::nullopt;
}

} // namespace warpwright::generator
