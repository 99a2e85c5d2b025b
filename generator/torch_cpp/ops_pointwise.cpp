// Arithmetic, comparisons, bounds and choices, element by element; operands are cast to the dtype that PyTorch computes in.
#include "generator/torch_cpp/operators.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace warpwright::generator::torch_cpp {
namespace {

using model::Dtype;

/// Names that are others'.
std::string canonical(const std::string &name) {
  static const std::map<std::string, std::string> kOthers = {
      {"absolute", "abs"},  {"negative", "neg"}, {"sgn", "sign"},
      {"arctan", "atan"},   {"not_equal", "ne"}, {"less", "lt"},
      {"less_equal", "le"}, {"greater", "gt"},   {"greater_equal", "ge"}};
  const auto found = kOthers.find(name);
  return found == kOthers.end() ? name : found->second;
}

/// Keeps integers integers.
Value same_unary(Call &call) {
  return call.made(call.graph.unary(canonical(call.name), call.tensor("self")));
}

Value floating_unary(Call &call) {
  const std::string x = call.tensor("self");
  return call.made(
      call.graph.unary(canonical(call.name), call.graph.cast(x, floating(call.graph.dtype(x)))));
}

Value logical_not(Call &call) {
  const std::string x = call.tensor("self");
  if (call.name == "bitwise_not" && call.graph.dtype(x) != Dtype::Bool)
    return call.refuse("it inverts bits of integers");
  return call.made(call.graph.unary("logical_not", x));
}

Value square(Call &call) { return call.made(call.graph.unary("square", call.tensor("self"))); }

/// The operand times alpha.
std::string scaled(Call &call, const std::string &parameter, Dtype dtype) {
  const std::string value = call.operand(parameter, dtype);
  const double alpha = call.number("alpha", 1);
  return alpha == 1 ? value : call.graph.binary("mul", value, alpha);
}

Value add(Call &call) {
  const Dtype dtype = call.promoted({"self", "other"});
  if (call.name == "rsub") {
    const std::string from = call.operand("other", dtype);
    return call.made(call.graph.binary("sub", from, scaled(call, "self", dtype)));
  }
  const std::string x = call.operand("self", dtype);
  return call.made(
      call.graph.binary(call.name == "add" ? "add" : "sub", x, scaled(call, "other", dtype)));
}

Value arithmetic(Call &call) {
  const Dtype dtype = call.promoted({"self", "other"});
  const std::string op = call.name == "multiply" ? "mul"
                         : call.name == "max"    ? "maximum"
                         : call.name == "min"    ? "minimum"
                                                 : call.name;
  const std::string x = call.operand("self", dtype);
  return call.made(call.graph.binary(op, x, call.operand("other", dtype)));
}

Value divide(Call &call) {
  const auto *text = call["rounding_mode"].as<std::string>();
  const std::string mode = call.name == "floor_divide" ? "floor" : text ? *text : "";
  const Dtype dtype = call.promoted({"self", "other"});
  GraphWriter &graph = call.graph;
  if (mode.empty() || model::is_floating(dtype)) {
    const std::string x = call.operand("self", floating(dtype));
    const std::string quotient = graph.binary("div", x, call.operand("other", floating(dtype)));
    return call.made(mode.empty() ? quotient : graph.unary(mode, quotient));
  }
  const std::string x = graph.cast(call.operand("self", dtype), Dtype::Float64);
  const std::string y = graph.cast(call.operand("other", dtype), Dtype::Float64);
  return call.made(graph.cast(graph.unary(mode, graph.binary("div", x, y)), dtype));
}

Value power(Call &call) {
  const Dtype dtype = call.promoted({"self", "exponent"});
  const auto exponent = call["exponent"].number();
  const std::string x = call.operand("self", dtype);
  if (exponent && call.is_tensor("self")) {
    const double e = *exponent;
    if (e == 1)
      return call.made(x);
    if (e == 2)
      return call.made(call.graph.unary("square", x));
    if (model::is_floating(dtype))
      for (const auto &[value, op] :
           {std::pair{0.5, "sqrt"}, std::pair{-0.5, "rsqrt"}, std::pair{-1.0, "reciprocal"}})
        if (e == value)
          return call.made(call.graph.unary(op, x));
  }
  return call.made(call.graph.binary("pow", x, call.operand("exponent", dtype)));
}

Value comparison(Call &call) {
  const Dtype dtype = call.promoted({"self", "other"});
  const std::string x = call.operand("self", dtype);
  return call.made(call.graph.binary(canonical(call.name), x, call.operand("other", dtype)));
}

std::string as_bool(GraphWriter &graph, const std::string &x) {
  return graph.dtype(x) == Dtype::Bool ? x : graph.binary("ne", x, 0);
}

Value logical(Call &call) {
  const bool bits = call.name.starts_with("bitwise");
  const Dtype dtype = call.promoted({"self", "other"});
  if (bits && dtype != Dtype::Bool)
    return call.refuse("it combines bits of integers");
  const std::string op = bits ? "logical" + call.name.substr(7) : call.name;
  const std::string x = as_bool(call.graph, call.operand("self", dtype));
  return call.made(call.graph.binary(op, x, as_bool(call.graph, call.operand("other", dtype))));
}

Value classified(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  if (call.name == "isnan")
    return call.made(graph.binary("ne", x, x));
  if (!model::is_floating(graph.dtype(x)))
    return call.refuse("its argument is of integers");
  return call.made(graph.binary(call.name == "isinf" ? "eq" : "lt", graph.unary("abs", x),
                                std::numeric_limits<double>::infinity()));
}

Value clamp(Call &call) {
  Dtype dtype = call.promoted({"self", "min", "max"});
  std::string x = call.operand("self", dtype);
  Value low = call["min"], high = call["max"];
  if (call.name == "relu6")
    low = std::int64_t{0}, high = std::int64_t{6};
  if (call.name == "hardtanh")
    low = call.number("min_val", -1), high = call.number("max_val", 1);
  if (low.is_given())
    x = call.graph.binary("maximum", x, call.as_operand(low, dtype));
  if (high.is_given())
    x = call.graph.binary("minimum", x, call.as_operand(high, dtype));
  return call.made(x);
}

Value where(Call &call) {
  if (!call.has("self"))
    return call.refuse("its shape depends on data");
  const Dtype dtype = call.promoted({"self", "other"});
  const std::string condition = as_bool(call.graph, call.tensor("condition"));
  const std::string x = call.operand("self", dtype);
  return call.made(call.graph.where(condition, x, call.operand("other", dtype)));
}

Value masked_fill(Call &call) {
  const std::string x = call.tensor("self");
  const std::string mask = call.operand("mask", Dtype::Bool);
  return call.made(call.graph.where(mask, call.operand("value", call.graph.dtype(x)), x));
}

Value add_product(Call &call) {
  const Dtype dtype = call.promoted({"self", "tensor1", "tensor2"});
  const std::string a = call.operand("tensor1", dtype);
  std::string term =
      call.graph.binary(call.name == "addcmul" ? "mul" : "div", a, call.operand("tensor2", dtype));
  if (const double value = call.number("value", 1); value != 1)
    term = call.graph.binary("mul", term, value);
  return call.made(call.graph.binary("add", call.operand("self", dtype), term));
}

Value lerp(Call &call) {
  const Dtype dtype = call.promoted({"self", "end"});
  const std::string start = call.operand("self", dtype);
  const std::string step = call.graph.binary("sub", call.operand("end", dtype), start);
  return call.made(call.graph.binary(
      "add", start, call.graph.binary("mul", step, call.operand("weight", dtype))));
}

Value frac(Call &call) {
  const std::string x = call.tensor("self");
  return call.made(call.graph.binary("sub", x, call.graph.unary("trunc", x)));
}

Value logarithm_or_power_of_base(Call &call) {
  const std::string given = call.tensor("self");
  const std::string x = call.graph.cast(given, floating(call.graph.dtype(given)));
  if (call.name == "exp2")
    return call.made(call.graph.binary("pow", 2.0, x));
  return call.made(call.graph.binary("mul", call.graph.unary("log", x), 1 / std::log(10.0)));
}

constexpr std::array kOperators = {
    Operator{"abs absolute neg negative sign sgn relu floor ceil trunc", "self", same_unary},
    Operator{"round", "self", same_unary},
    Operator{"exp expm1 log log1p log2 sqrt rsqrt reciprocal sin cos tan atan arctan tanh erf erfc "
             "sigmoid silu mish hardsigmoid hardswish",
             "self", floating_unary},
    Operator{"exp2 log10", "self", logarithm_or_power_of_base},
    Operator{"logical_not bitwise_not", "self", logical_not},
    Operator{"square", "self", square},
    Operator{"add sub subtract rsub", "self other alpha", add},
    Operator{"mul multiply maximum minimum remainder atan2", "self other", arithmetic},
    Operator{"div divide true_divide floor_divide", "self other rounding_mode", divide},
    Operator{"pow", "self exponent", power},
    Operator{"eq ne lt le gt ge not_equal less less_equal greater greater_equal", "self other",
             comparison},
    Operator{"logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor", "self other",
             logical},
    Operator{"isnan isinf isfinite", "self", classified},
    Operator{"clamp clip", "self min max", clamp},
    Operator{"clamp_min", "self min", clamp},
    Operator{"clamp_max", "self max", clamp},
    Operator{"relu6", "self", clamp},
    Operator{"hardtanh", "self min_val max_val", clamp},
    Operator{"where", "condition self other", where},
    Operator{"masked_fill", "self mask value", masked_fill},
    Operator{"addcmul addcdiv", "self tensor1 tensor2 value", add_product},
    Operator{"lerp", "self end weight", lerp},
    Operator{"frac", "self", frac},
};

} // namespace

std::span<const Operator> pointwise_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
