// Normalisation.
#include "generator/torch_cpp/operators.h"

#include <array>
#include <limits>

namespace warpwright::generator::torch_cpp {
namespace {

using model::Shape;

/// The operands that are there behind the input, and the attribute that names the others.
std::vector<std::string> operands(Call &call, std::initializer_list<const char *> optional,
                                  model::Attributes &attributes) {
  std::vector<std::string> inputs{call.tensor("input")};
  std::string absent;
  for (const char *parameter : optional)
    if (call.has(parameter))
      inputs.push_back(call.tensor(parameter));
    else
      absent += (absent.empty() ? "" : ",") + std::string(parameter);
  if (!absent.empty())
    attributes["absent"] = absent;
  return inputs;
}

Shape trailing(Call &call) {
  const std::int64_t rank = call.graph.rank(call.tensor("input"));
  const auto count =
      static_cast<std::int64_t>(call.list("normalized_shape").value_or(Shape{}).size());
  if (count < 1 || count > rank)
    call.refuse("its normalized_shape does not fit its input");
  Shape dims;
  for (std::int64_t dim = std::max<std::int64_t>(rank - count, 0); dim < rank; ++dim)
    dims.push_back(dim);
  return dims;
}

Value layer_norm(Call &call) {
  model::Attributes attributes{{"dims", trailing(call)}, {"eps", call.number("eps", 1e-5)}};
  auto inputs = operands(call, {"weight", "bias"}, attributes);
  return call.made(call.graph.emit("layer_norm", std::move(inputs), std::move(attributes)));
}

Value rms_norm(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("input");
  if (graph.dtype(x) != model::Dtype::Float32 && graph.dtype(x) != model::Dtype::Float64)
    return call.refuse("its input is neither float nor double");
  const double epsilon = graph.dtype(x) == model::Dtype::Float32
                             ? static_cast<double>(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon();
  const std::string mean = graph.reduce("mean", graph.unary("square", x), trailing(call), true);
  const std::string scale =
      graph.unary("rsqrt", graph.binary("add", mean, call.number("eps", epsilon)));
  const std::string value = graph.binary("mul", x, scale);
  return call.made(call.has("weight") ? graph.binary("mul", value, call.tensor("weight")) : value);
}

Value group_norm(Call &call) {
  const bool instance = call.name == "instance_norm";
  const std::string x = call.tensor("input");
  if (call.graph.rank(x) < 2 || call.has("running_mean"))
    return call.refuse("its input has no channels, or it has running statistics");
  const std::int64_t groups = instance ? call.graph.shape(x)[1] : call.integer("num_groups", 1);
  model::Attributes attributes{{"groups", groups}, {"eps", call.number("eps", 1e-5)}};
  auto inputs = operands(call, {"weight", "bias"}, attributes);
  return call.made(call.graph.emit("group_norm", std::move(inputs), std::move(attributes)));
}

/// In training running statistics would be written, which are then no results but state.
Value batch_norm(Call &call) {
  const bool training = call.flag("training", false);
  if (training && (call.has("running_mean") || call.has("running_var")))
    return call.refuse("it trains running statistics");
  model::Attributes attributes{{"training", training},
                               {"eps", call.number("eps", 1e-5)},
                               {"momentum", call.number("momentum", 0.1)}};
  auto inputs = operands(call, {"weight", "bias", "running_mean", "running_var"}, attributes);
  return call.made(call.graph.emit("batch_norm", std::move(inputs), std::move(attributes)));
}

constexpr std::array kOperators = {
    Operator{"layer_norm", "input normalized_shape weight bias eps", layer_norm,
             "normalized_shape"},
    Operator{"rms_norm", "input normalized_shape weight eps", rms_norm},
    Operator{"group_norm", "input num_groups weight bias eps", group_norm, "num_groups"},
    Operator{"instance_norm",
             "input weight bias running_mean running_var use_input_stats momentum eps", group_norm},
    Operator{"batch_norm", "input weight bias running_mean running_var training momentum eps",
             batch_norm},
};

} // namespace

std::span<const Operator> norm_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
