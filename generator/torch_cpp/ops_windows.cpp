// Convolution, pooling and upsampling. Values without a batch dimension get one and lose it again.
#include "generator/torch_cpp/operators.h"

#include <algorithm>
#include <array>

namespace warpwright::generator::torch_cpp {
namespace {

using model::Shape;

/// 2 of "max_pool2d".
std::size_t spatial(const std::string &name) {
  const std::size_t d = name.rfind('d');
  return d == std::string::npos || d == 0 ? 0 : static_cast<std::size_t>(name[d - 1] - '0');
}

Value convolution(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("input"), weight = call.tensor("weight");
  const bool transposed = call.name.contains("transpose") || call.flag("transposed", false);
  if (graph.rank(weight) < 3 || graph.rank(x) != graph.rank(weight))
    return call.refuse("its input has no batch dimension or not the weight's number of dimensions");
  if (const auto *text = call["padding"].as<std::string>())
    return call.refuse("its padding is " + *text);
  const auto count = static_cast<std::size_t>(graph.rank(weight) - 2);
  std::vector<std::string> inputs{x, weight};
  if (call.has("bias"))
    inputs.push_back(call.tensor("bias"));
  return call.made(graph.emit("conv", std::move(inputs),
                              {{"stride", call.list("stride", count, {1})},
                               {"padding", call.list("padding", count, {0})},
                               {"dilation", call.list("dilation", count, {1})},
                               {"groups", call.integer("groups", 1)},
                               {"transposed", transposed},
                               {"output_padding", call.list("output_padding", count, {0})}}));
}

/// @param shape the result's spatial extents, of an op that states them
Value pooled(Call &call, const std::string &op, model::Attributes attributes,
             std::optional<Shape> shape = std::nullopt) {
  GraphWriter &graph = call.graph;
  std::string x = call.tensor("self");
  const auto count = static_cast<std::int64_t>(spatial(call.name));
  const bool alone = graph.rank(x) == count + 1;
  if (graph.rank(x) != count + 1 && graph.rank(x) != count + 2)
    return call.refuse("its input has " + std::to_string(graph.rank(x)) + " dimensions");
  if (alone)
    x = graph.unsqueeze(x, 0);
  std::string value;
  if (shape) {
    shape->insert(shape->begin(), graph.shape(x).begin(), graph.shape(x).begin() + 2);
    value = graph.stated(op, {x}, std::move(attributes), {graph.dtype(x), *shape, {}});
  } else {
    value = graph.emit(op, {x}, std::move(attributes));
  }
  Shape result = graph.shape(value);
  if (alone && !result.empty())
    result.erase(result.begin());
  return call.made(graph.reshape(value, result));
}

Value max_pool(Call &call) {
  const std::size_t count = spatial(call.name);
  const Shape kernel = call.list("kernel_size", count, {1});
  return pooled(call, "max_pool",
                {{"kernel", kernel},
                 {"stride", call.list("stride", count, kernel)},
                 {"padding", call.list("padding", count, {0})},
                 {"dilation", call.list("dilation", count, {1})},
                 {"ceil", call.flag("ceil_mode", false)}});
}

Value avg_pool(Call &call) {
  const std::size_t count = spatial(call.name);
  const Shape kernel = call.list("kernel_size", count, {1});
  model::Attributes attributes{{"kernel", kernel},
                               {"stride", call.list("stride", count, kernel)},
                               {"padding", call.list("padding", count, {0})},
                               {"ceil", call.flag("ceil_mode", false)},
                               {"count_include_pad", call.flag("count_include_pad", true)}};
  if (call.has("divisor_override"))
    attributes["divisor"] = call.integer("divisor_override", 1);
  return pooled(call, "avg_pool", std::move(attributes));
}

Value adaptive_avg_pool(Call &call) {
  const std::size_t count = spatial(call.name);
  return pooled(call, "adaptive_avg_pool", {}, call.list("output_size", count, {1}));
}

Value upsample_nearest(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const Shape before = graph.shape(x);
  if (before.size() < 3)
    return call.refuse("its input has no batch or channel dimension");
  const Shape after = call.list("output_size", before.size() - 2, {1});
  Shape scales, shape{before[0], before[1]};
  for (std::size_t i = 2; i < before.size(); ++i) {
    if (i - 2 >= after.size() || before[i] == 0 || after[i - 2] % before[i] != 0)
      return call.refuse("its factors are no whole numbers");
    scales.push_back(after[i - 2] / before[i]);
    shape.push_back(after[i - 2]);
  }
  return call.made(
      graph.stated("upsample_nearest", {x}, {{"scales", scales}}, {graph.dtype(x), shape, {}}));
}

constexpr std::array kOperators = {
    Operator{"conv1d conv2d conv3d", "input weight bias stride padding dilation groups",
             convolution},
    Operator{"conv_transpose1d conv_transpose2d conv_transpose3d",
             "input weight bias stride padding output_padding groups dilation", convolution},
    Operator{"convolution",
             "input weight bias stride padding dilation transposed output_padding groups",
             convolution},
    Operator{"max_pool1d max_pool2d max_pool3d",
             "self kernel_size stride padding dilation ceil_mode", max_pool, "kernel_size"},
    Operator{"avg_pool1d avg_pool2d avg_pool3d",
             "self kernel_size stride padding ceil_mode count_include_pad divisor_override",
             avg_pool, "kernel_size"},
    Operator{"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", "self output_size",
             adaptive_avg_pool, "output_size"},
    Operator{"upsample_nearest1d upsample_nearest2d upsample_nearest3d", "self output_size",
             upsample_nearest},
};

} // namespace

std::span<const Operator> window_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
