// Activations with parameters, and what is one only by name.
#include "generator/torch_cpp/operators.h"

#include <array>

namespace warpwright::generator::torch_cpp {
namespace {

Value gelu(Call &call) {
  const auto *mode = call["approximate"].as<std::string>();
  return call.made(
      call.graph.unary("gelu", call.tensor("self"),
                       {{"approximate", mode && mode->ends_with("anh") ? std::string("tanh")
                                                                       : std::string("none")}}));
}

Value elu(Call &call) {
  double alpha = call.number("alpha", 1), scale = call.number("scale", 1),
         input_scale = call.number("input_scale", 1);
  if (call.name == "celu")
    input_scale = 1 / alpha;
  if (call.name == "selu")
    alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return call.made(
      call.graph.unary("elu", call.tensor("self"),
                       {{"alpha", alpha}, {"scale", scale}, {"input_scale", input_scale}}));
}

Value leaky_relu(Call &call) {
  return call.made(call.graph.unary("leaky_relu", call.tensor("self"),
                                    {{"negative_slope", call.number("negative_slope", 0.01)}}));
}

Value rrelu(Call &call) {
  if (call.flag("training", false))
    return call.refuse("it is random");
  const double slope = (call.number("lower", 1.0 / 8) + call.number("upper", 1.0 / 3)) / 2;
  return call.made(
      call.graph.unary("leaky_relu", call.tensor("self"), {{"negative_slope", slope}}));
}

Value prelu(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  std::string weight = call.operand("weight", graph.dtype(x));
  if (graph.rank(weight) == 1 && graph.rank(x) > 1) {
    model::Shape shape(static_cast<std::size_t>(graph.rank(x)), 1);
    shape[1] = graph.elements(weight);
    weight = graph.reshape(weight, shape);
  }
  return call.made(graph.where(graph.binary("gt", x, 0), x, graph.binary("mul", x, weight)));
}

Value softplus(Call &call) {
  return call.made(call.graph.unary(
      "softplus", call.tensor("self"),
      {{"beta", call.number("beta", 1)}, {"threshold", call.number("threshold", 20)}}));
}

Value softsign(Call &call) {
  const std::string x = call.tensor("self");
  const std::string below = call.graph.binary("add", call.graph.unary("abs", x), 1);
  return call.made(call.graph.binary("div", x, below));
}

Value log_sigmoid(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::string tail =
      graph.unary("log1p", graph.unary("exp", graph.unary("neg", graph.unary("abs", x))));
  return call.made(graph.binary("sub", graph.binary("minimum", x, 0), tail));
}

Value hardshrink(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const double bound = call.number("lambda", 0.5);
  const std::string inside = graph.binary("le", graph.unary("abs", x), bound);
  return call.made(graph.where(inside, graph.constant(0, graph.dtype(x)), x));
}

Value softshrink(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const double bound = call.number("lambda", 0.5);
  const std::string zero = graph.constant(0, graph.dtype(x));
  const std::string low =
      graph.where(graph.binary("lt", x, -bound), graph.binary("add", x, bound), zero);
  return call.made(graph.where(graph.binary("gt", x, bound), graph.binary("sub", x, bound), low));
}

Value tanhshrink(Call &call) {
  const std::string x = call.tensor("self");
  return call.made(call.graph.binary("sub", x, call.graph.unary("tanh", x)));
}

Value threshold(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::string below = graph.binary("le", x, call.number("threshold", 0));
  return call.made(graph.where(below, call.operand("value", graph.dtype(x)), x));
}

Value glu(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::int64_t dim = call.dim("dim", graph.rank(x), -1);
  if (graph.rank(x) == 0)
    return call.refuse("it halves a scalar");
  const std::int64_t half = graph.shape(x)[static_cast<std::size_t>(dim)] / 2;
  const std::string gate = graph.unary("sigmoid", graph.slice(x, dim, half, 2 * half));
  return call.made(graph.binary("mul", graph.slice(x, dim, 0, half), gate));
}

/// ATen's is told by its third argument; that of torch::nn::functional trains unless its options say otherwise.
Value dropout(Call &call) {
  const bool training = call.has("train") ? call.flag("train", true) : call.flag("training", true);
  if (training && call.number("p", 0.5) > 0)
    return call.refuse("it is random in training");
  return call["self"];
}

constexpr std::array kOperators = {
    Operator{"gelu", "self approximate", gelu},
    Operator{"elu", "self alpha scale input_scale", elu, "alpha"},
    Operator{"celu", "self alpha", elu},
    Operator{"selu", "self", elu},
    Operator{"leaky_relu", "self negative_slope", leaky_relu},
    Operator{"rrelu", "self lower upper training", rrelu},
    Operator{"prelu", "self weight", prelu},
    Operator{"softplus", "self beta threshold", softplus},
    Operator{"softsign", "self", softsign},
    Operator{"log_sigmoid logsigmoid", "self", log_sigmoid},
    Operator{"hardshrink", "self lambda", hardshrink, "lambda"},
    Operator{"softshrink", "self lambda", softshrink, "lambda"},
    Operator{"tanhshrink", "self", tanhshrink},
    Operator{"threshold", "self threshold value", threshold, "threshold value"},
    Operator{"glu", "self dim", glu, "dim"},
    Operator{"dropout alpha_dropout", "self p train", dropout},
};

} // namespace

std::span<const Operator> activation_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
