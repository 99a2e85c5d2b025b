// Losses, as the pointwise operations, reductions and gathers that they are.
#include "generator/torch_cpp/operators.h"

#include <array>

namespace warpwright::generator::torch_cpp {
namespace {

/// at::Reduction's numbers, and torch::kMean and its like.
enum class Reduction { None = 0, Mean = 1, Sum = 2 };

Reduction reduction_of(Call &call) {
  if (const auto *text = call["reduction"].as<std::string>()) {
    if (*text == "kNone")
      return Reduction::None;
    if (*text == "kSum")
      return Reduction::Sum;
    if (*text != "kMean")
      call.refuse("its reduction is " + *text);
    return Reduction::Mean;
  }
  return static_cast<Reduction>(call.integer("reduction", 1));
}

Value summed(Call &call, const std::string &value) {
  const Reduction reduction = reduction_of(call);
  if (reduction == Reduction::None || call.graph.rank(value) == 0)
    return call.made(value);
  return call.made(
      call.graph.reduce(reduction == Reduction::Mean ? "mean" : "sum", value, {}, false));
}

std::string difference(Call &call) {
  const model::Dtype dtype = call.promoted({"self", "target"});
  const std::string x = call.operand("self", dtype);
  return call.graph.binary("sub", x, call.operand("target", dtype));
}

Value distance(Call &call) {
  const std::string op = call.name == "mse_loss" ? "square" : "abs";
  return summed(call, call.graph.unary(op, difference(call)));
}

/// Quadratic below the bound, linear above; smooth_l1 is huber over beta.
Value huber_loss(Call &call) {
  GraphWriter &graph = call.graph;
  const bool smooth = call.name.starts_with("smooth");
  const double bound = call.number(smooth ? "beta" : "delta", 1);
  const std::string x = graph.unary("abs", difference(call));
  if (smooth && bound == 0)
    return summed(call, x);
  const std::string squared =
      graph.binary("mul", graph.unary("square", x), smooth ? 0.5 / bound : 0.5);
  std::string linear = graph.binary("sub", x, 0.5 * bound);
  if (!smooth)
    linear = graph.binary("mul", linear, bound);
  return summed(call, graph.where(graph.binary("lt", x, bound), squared, linear));
}

/// Logarithms are bounded by -100, as PyTorch does.
Value binary_cross_entropy(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self"), target = call.tensor("target");
  const std::string near = graph.binary("maximum", graph.unary("log", x), -100.0);
  std::string far = graph.binary("maximum", graph.unary("log1p", graph.unary("neg", x)), -100.0);
  far = graph.binary("mul", graph.binary("sub", target, 1.0), far);
  std::string value = graph.binary("sub", far, graph.binary("mul", target, near));
  if (call.has("weight"))
    value = graph.binary("mul", value, call.tensor("weight"));
  return summed(call, value);
}

Value with_logits(Call &call) {
  GraphWriter &graph = call.graph;
  if (call.has("pos_weight") || call.has("weight"))
    return call.refuse("it has weights");
  const std::string x = call.tensor("self"), target = call.tensor("target");
  const std::string tail =
      graph.unary("log1p", graph.unary("exp", graph.unary("neg", graph.unary("abs", x))));
  const std::string log_sigmoid = graph.binary("sub", graph.binary("minimum", x, 0), tail);
  const std::string rest = graph.binary("mul", graph.binary("sub", 1.0, target), x);
  return summed(call, graph.binary("sub", rest, log_sigmoid));
}

Value kl_div(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self"), target = call.tensor("target");
  if (call.flag("log_target", false))
    return summed(call,
                  graph.binary("mul", graph.unary("exp", target), graph.binary("sub", target, x)));
  const std::string product =
      graph.binary("mul", target, graph.binary("sub", graph.unary("log", target), x));
  const std::string zero = graph.binary("le", target, 0);
  const std::string entropy = graph.unary("neg", graph.binary("mul", target, x));
  return summed(call, graph.where(zero, entropy, product));
}

/// Of class numbers, without weights.
Value classified(Call &call) {
  GraphWriter &graph = call.graph;
  std::string table = call.tensor("self");
  const std::string target = call.tensor("target");
  if (call.has("weight") || call.number("label_smoothing", 0) != 0 ||
      graph.dtype(target) != model::Dtype::Int64 || graph.rank(table) == 0)
    return call.refuse("it has class weights, smoothing, or targets that are no class numbers");
  const std::int64_t dim = graph.rank(table) == 1 ? 0 : 1;
  if (call.name.starts_with("cross"))
    table = graph.unary("log_softmax", table, {{"dim", dim}});
  const std::string counts =
      graph.binary("ne", target, static_cast<double>(call.integer("ignore_index", -100)));
  const std::string index = graph.unsqueeze(
      graph.where(counts, target, graph.integer_constant(0, model::Dtype::Int64)), dim);
  std::string value =
      graph.reshape(graph.emit("gather", {table, index}, {{"dim", dim}}), graph.shape(target));
  value = graph.where(counts, graph.unary("neg", value), graph.constant(0, graph.dtype(table)));
  if (reduction_of(call) != Reduction::Mean)
    return summed(call, value);
  const std::string share = graph.cast(counts, graph.dtype(table));
  if (graph.rank(value) == 0)
    return call.made(graph.binary("div", value, share));
  const std::string sum = graph.reduce("sum", value, {}, false);
  return call.made(graph.binary("div", sum, graph.reduce("sum", share, {}, false)));
}

/// sum(a * b, dim) / sqrt(max(sum(a * a) * sum(b * b), eps^2)).
Value cosine_similarity(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string a = call.tensor("x1"), b = call.tensor("x2");
  const std::int64_t dim = call.dim("dim", graph.rank(a), 1);
  const double eps = call.number("eps", 1e-8);
  const auto norm = [&](const std::string &x) {
    return graph.binary("maximum", graph.reduce("norm", x, {dim}, true, {{"p", 2.0}}), eps);
  };
  const std::string left = graph.binary("div", a, norm(a));
  const std::string right = graph.binary("div", b, norm(b));
  return call.made(graph.reduce("sum", graph.binary("mul", left, right), {dim}, false));
}

constexpr std::array kOperators = {
    Operator{"mse_loss l1_loss", "self target reduction", distance, "reduction"},
    Operator{"huber_loss", "self target reduction delta", huber_loss, "reduction"},
    Operator{"smooth_l1_loss", "self target reduction beta", huber_loss, "reduction"},
    Operator{"binary_cross_entropy", "self target weight reduction", binary_cross_entropy},
    Operator{"binary_cross_entropy_with_logits", "self target weight pos_weight reduction",
             with_logits},
    Operator{"kl_div", "self target reduction log_target", kl_div, "reduction"},
    Operator{"nll_loss", "self target weight reduction ignore_index", classified},
    Operator{"cross_entropy cross_entropy_loss",
             "self target weight reduction ignore_index label_smoothing", classified},
    Operator{"cosine_similarity", "x1 x2 dim eps", cosine_similarity},
};

} // namespace

std::span<const Operator> loss_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
