#include "generator/ops/scalar_ops.h"

#include "generator/ops/op_traits.h"
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warpwright::generator {
namespace {

using model::Dtype;

bool is_double(Dtype dtype) { return dtype == Dtype::Float64; }

bool compares(const std::string &op) {
  return op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" || op == "ge";
}

std::string digits(double value, bool single) {
  char text[40];
  const auto end = single ? std::to_chars(text, text + sizeof text, static_cast<float>(value))
                          : std::to_chars(text, text + sizeof text, value);
  std::string result(text, end.ptr);
  if (result.find_first_of(".e") == std::string::npos)
    result += ".0";
  return result + (single ? "f" : "");
}

/// "expf(x)" or "exp(x)".
std::string call(const std::string &function, Dtype dtype, const std::string &arguments) {
  return function + (is_double(dtype) ? "(" : "f(") + arguments + ")";
}

std::string power(const model::Node &exponent, Dtype dtype, const std::string &x,
                  const std::string &y) {
  if (!model::is_floating(dtype))
    return "warpwright_power(" + x + ", " + y + ")";
  if (exponent.op == "constant" && exponent.type().shape.empty()) {
    const double value = number_attribute(exponent, "value", NAN);
    if (value == 1)
      return x;
    if (value == 2)
      return "(" + x + " * " + x + ")";
    if (value == 3)
      return "(" + x + " * " + x + " * " + x + ")";
    if (value == 0.5)
      return call("sqrt", dtype, x);
    if (value == -0.5)
      return call("rsqrt", dtype, x);
    if (value == -1)
      return "(" + literal(1, dtype) + " / " + x + ")";
    if (value == -2)
      return "(" + literal(1, dtype) + " / (" + x + " * " + x + "))";
  }
  return call("pow", dtype, x + ", " + y);
}

std::string activation(const model::Node &node, Dtype dtype, const std::string &x) {
  const auto number = [&](const char *name, double fallback) {
    return literal(number_attribute(node, name, fallback), dtype);
  };
  const std::string zero = literal(0, dtype), one = literal(1, dtype), half = literal(0.5, dtype),
                    three = literal(3, dtype), six = literal(6, dtype);
  const std::string &op = node.op;
  if (op == "relu")
    return "(" + x + " < " + zero + " ? " + zero + " : " + x + ")";
  if (op == "sigmoid")
    return "(" + one + " / (" + one + " + " + call("exp", dtype, "-" + x) + "))";
  if (op == "silu")
    return "(" + x + " / (" + one + " + " + call("exp", dtype, "-" + x) + "))";
  if (op == "mish")
    return "(" + x + " * " + call("tanh", dtype, call("log1p", dtype, call("exp", dtype, x))) + ")";
  if (op == "softsign")
    return "(" + x + " / (" + one + " + " + call("fabs", dtype, x) + "))";
  if (op == "hardsigmoid" || op == "hardswish") {
    const std::string gate = "warpwright_minimum(warpwright_maximum(" + x + " + " + three + ", " +
                             zero + "), " + six + ")";
    return "(" + (op == "hardswish" ? x + " * " : "") + gate + " / " + six + ")";
  }
  if (op == "gelu") {
    if (text_attribute(node, "approximate", "none") == "tanh") {
      const std::string inner = literal(0.7978845608028654, dtype) + " * (" + x + " + " +
                                literal(0.044715, dtype) + " * " + x + " * " + x + " * " + x + ")";
      return "(" + half + " * " + x + " * (" + one + " + " + call("tanh", dtype, inner) + "))";
    }
    return "(" + x + " * " + half + " * (" + one + " + " +
           call("erf", dtype, x + " * " + literal(0.7071067811865476, dtype)) + "))";
  }
  if (op == "elu") {
    const double alpha = number_attribute(node, "alpha", 1),
                 scale = number_attribute(node, "scale", 1);
    return "(" + x + " <= " + zero + " ? " +
           call("expm1", dtype, x + " * " + number("input_scale", 1)) + " * " +
           literal(alpha * scale, dtype) + " : " + x + " * " + literal(scale, dtype) + ")";
  }
  if (op == "leaky_relu")
    return "(" + x + " > " + zero + " ? " + x + " : " + x + " * " + number("negative_slope", 0.01) +
           ")";
  if (op == "softplus") {
    const std::string scaled = "(" + x + " * " + number("beta", 1) + ")";
    return "(" + scaled + " > " + number("threshold", 20) + " ? " + x + " : " +
           call("log1p", dtype, call("exp", dtype, scaled)) + " / " + number("beta", 1) + ")";
  }
  return {};
}

std::string unary(const model::Node &node, Dtype dtype, const std::string &x) {
  const std::string &op = node.op;
  const bool floating = model::is_floating(dtype);
  if (op == "neg")
    return "(-" + x + ")";
  if (op == "square")
    return "(" + x + " * " + x + ")";
  if (op == "abs")
    return floating ? call("fabs", dtype, x) : "(" + x + " < 0 ? -" + x + " : " + x + ")";
  if (op == "sign")
    return "(" + compute_type_of(dtype) + ")((" + literal(0, dtype) + " < " + x + ") - (" + x +
           " < " + literal(0, dtype) + "))";
  if (op == "reciprocal")
    return "(" + literal(1, dtype) + " / " + x + ")";
  if (op == "floor" || op == "ceil" || op == "trunc")
    return floating ? call(op, dtype, x) : x;
  if (op == "round")
    return floating ? call("rint", dtype, x) : x;
  for (const char *plain : {"exp", "expm1", "log", "log1p", "log2", "sqrt", "rsqrt", "sin", "cos",
                            "tan", "atan", "tanh", "erf", "erfc"})
    if (op == plain)
      return call(op, dtype, x);
  return activation(node, dtype, x);
}

std::string binary(const model::Node &node, Dtype dtype, const std::string &a, const std::string &b,
                   const model::Node &second) {
  const std::string &op = node.op;
  const auto infix = [&](const char *sign) { return "(" + a + " " + sign + " " + b + ")"; };
  if (op == "add")
    return infix("+");
  if (op == "sub")
    return infix("-");
  if (op == "mul")
    return infix("*");
  if (op == "div")
    return infix("/");
  if (op == "pow")
    return power(second, dtype, a, b);
  if (op == "maximum")
    return "warpwright_maximum(" + a + ", " + b + ")";
  if (op == "minimum")
    return "warpwright_minimum(" + a + ", " + b + ")";
  if (op == "remainder")
    return "warpwright_remainder(" + a + ", " + b + ")";
  if (op == "atan2")
    return call("atan2", dtype, a + ", " + b);
  static const std::map<std::string, const char *> signs = {
      {"eq", "=="}, {"ne", "!="},          {"lt", "<"},          {"le", "<="},         {"gt", ">"},
      {"ge", ">="}, {"logical_and", "&&"}, {"logical_or", "||"}, {"logical_xor", "!="}};
  return infix(signs.at(op));
}

} // namespace

std::string compute_type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::Bool:
    return "bool";
  case Dtype::Int8:
  case Dtype::UInt8:
  case Dtype::Int16:
  case Dtype::UInt16:
  case Dtype::Int32:
    return "int";
  case Dtype::UInt32:
    return "unsigned";
  case Dtype::Int64:
    return "long long";
  case Dtype::UInt64:
    return "unsigned long long";
  case Dtype::Float64:
    return "double";
  default:
    return "float";
  }
}

std::string memory_type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::Int8:
    return "signed char";
  case Dtype::UInt8:
    return "unsigned char";
  case Dtype::Int16:
    return "short";
  case Dtype::UInt16:
    return "unsigned short";
  case Dtype::Float16:
    return "__half";
  case Dtype::BFloat16:
    return "__nv_bfloat16";
  default:
    return compute_type_of(dtype);
  }
}

std::string literal(double value, Dtype dtype) {
  if (dtype == Dtype::Bool)
    return value != 0 ? "true" : "false";
  if (!model::is_floating(dtype)) {
    const bool wide = model::size_bytes(dtype) == 8;
    const std::string text =
        std::to_string(static_cast<long long>(std::clamp(value, -9.2e18, 9.2e18))) +
        (wide ? "LL" : "");
    return value < 0 ? "(" + text + ")" : text;
  }
  const bool single = !is_double(dtype);
  if (single && std::isfinite(value) && std::isinf(static_cast<float>(value)))
    value = value > 0 ? INFINITY : -INFINITY;
  if (std::isnan(value))
    return single ? "__int_as_float(0x7fc00000)" : "__longlong_as_double(0x7ff8000000000000LL)";
  if (std::isinf(value)) {
    const std::string text =
        single ? "__int_as_float(0x7f800000)" : "__longlong_as_double(0x7ff0000000000000LL)";
    return value < 0 ? "(-" + text + ")" : text;
  }
  const std::string text = digits(value, single);
  return text.front() == '-' ? "(" + text + ")" : text;
}

std::string convert(const std::string &value, Dtype from, Dtype to, bool rounds) {
  if (rounds && to == Dtype::Float16)
    return "__half2float(__float2half_rn((float)" + value + "))";
  if (rounds && to == Dtype::BFloat16)
    return "__bfloat162float(__float2bfloat16_rn((float)" + value + "))";
  if (to == Dtype::Bool)
    return from == Dtype::Bool ? value : "(" + value + " != " + literal(0, from) + ")";
  if (!model::is_floating(to) && model::size_bytes(to) < 4 && from != to)
    return "((int)(" + memory_type_of(to) + ")(" + (model::is_floating(from) ? "(long long)" : "") +
           value + "))";
  const std::string target = compute_type_of(to);
  return target == compute_type_of(from) ? value : "((" + target + ")" + value + ")";
}

std::string from_memory(const std::string &element, Dtype dtype) {
  if (dtype == Dtype::Float16)
    return "__half2float(" + element + ")";
  if (dtype == Dtype::BFloat16)
    return "__bfloat162float(" + element + ")";
  return memory_type_of(dtype) == compute_type_of(dtype) ? element : "(int)" + element;
}

std::string to_memory(const std::string &value, Dtype dtype) {
  if (dtype == Dtype::Float16)
    return "__float2half_rn(" + value + ")";
  if (dtype == Dtype::BFloat16)
    return "__float2bfloat16_rn(" + value + ")";
  return memory_type_of(dtype) == compute_type_of(dtype)
             ? value
             : "(" + memory_type_of(dtype) + ")(" + value + ")";
}

Dtype computing_dtype(const GraphIndex &graph, const model::Node &node) {
  if (node.op.starts_with("logical_"))
    return Dtype::Bool;
  if (!compares(node.op))
    return node.type().dtype;
  // As torch.result_type: a scalar tensor counts only where its category is higher.
  std::optional<Dtype> with_dimensions, scalars;
  for (const std::string &input : node.inputs) {
    const model::TensorType &type = graph.node(input).type();
    auto &known = type.shape.empty() ? scalars : with_dimensions;
    known = known ? infer::promote(*known, type.dtype) : type.dtype;
  }
  if (!with_dimensions || !scalars)
    return with_dimensions ? *with_dimensions : *scalars;
  if (infer::category(*scalars) <= infer::category(*with_dimensions))
    return *with_dimensions;
  return infer::category(*scalars) == 2 && *scalars == Dtype::Float64 ? Dtype::Float32 : *scalars;
}

std::string pointwise_expression(const GraphIndex &graph, const model::Node &node,
                                 const std::vector<std::string> &operands) {
  const auto dtype_of = [&](std::size_t i) { return graph.node(node.inputs[i]).type().dtype; };
  const Dtype result = node.type().dtype;
  if (node.op == "cast")
    return convert(operands[0], dtype_of(0), result, dtype_of(0) != result);
  if (node.op == "where")
    return "(" + convert(operands[0], dtype_of(0), Dtype::Bool) + " ? " +
           convert(operands[1], dtype_of(1), result) + " : " +
           convert(operands[2], dtype_of(2), result) + ")";
  const Dtype dtype = computing_dtype(graph, node);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < operands.size(); ++i)
    values.push_back(convert(operands[i], dtype_of(i), dtype));
  if (node.op == "logical_not")
    return "(!" + values[0] + ")";
  const std::string text =
      values.size() == 1 ? unary(node, dtype, values[0])
                         : binary(node, dtype, values[0], values[1], graph.node(node.inputs[1]));
  if (compares(node.op) || node.op.starts_with("logical_"))
    return text;
  if (dtype == Dtype::Bool) // add, mul, maximum of bools
    return "((" + text + ") != 0)";
  if (!model::is_floating(result) && model::size_bytes(result) < 4)
    return "((int)(" + memory_type_of(result) + ")" + text + ")"; // wraps as the narrow type does
  return text;
}

const char *scalar_prelude() {
  return R"(// PyTorch's maximum and minimum give NaN where either operand is NaN.
template <class T> __device__ __forceinline__ T warpwright_maximum(T a, T b) {
  return a < b || b != b ? b : a;
}
template <class T> __device__ __forceinline__ T warpwright_minimum(T a, T b) {
  return b < a || b != b ? b : a;
}
// Python's %: the sign of the divisor.
__device__ __forceinline__ float warpwright_remainder(float a, float b) {
  const float r = fmodf(a, b);
  return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
}
__device__ __forceinline__ double warpwright_remainder(double a, double b) {
  const double r = fmod(a, b);
  return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}
template <class T> __device__ __forceinline__ T warpwright_remainder(T a, T b) {
  const T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <class T> __device__ __forceinline__ T warpwright_power(T base, T exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  T result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}
)";
}

} // namespace warpwright::generator
