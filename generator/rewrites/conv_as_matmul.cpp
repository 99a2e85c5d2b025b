// Convolutions written as products: with a kernel that covers the whole input, and with a kernel of one tap.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

bool all_are(const model::Shape &list, std::int64_t number) {
  return std::ranges::all_of(list, [&](std::int64_t value) { return value == number; });
}

struct Plain {
  model::Shape x, weight; ///< shapes
  std::size_t spatial;
  bool transposed;
};

/// Matches a batched convolution without groups, padding or dilation.
std::optional<Plain> plain(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::conv)
    return std::nullopt;
  Plain conv{facts.type(node.inputs[0]).shape, facts.type(node.inputs[1]).shape, 0,
             ops::flag_attribute(node, "transposed")};
  conv.spatial = conv.weight.size() - 2;
  if (conv.x.size() != conv.weight.size() || ops::integer_attribute(node, "groups", 1) != 1 ||
      !all_are(ops::list_attribute(node, "padding", conv.spatial, 0), 0) ||
      !all_are(ops::list_attribute(node, "output_padding", conv.spatial, 0), 0))
    return std::nullopt;
  return conv;
}

} // namespace

std::optional<Replacement> covering_convolution(const GraphFacts &facts, const model::Node &node) {
  const auto conv = plain(facts, node);
  if (!conv)
    return std::nullopt;
  const model::Shape taps(conv->weight.begin() + 2, conv->weight.end());
  const model::Shape extents(conv->x.begin() + 2, conv->x.end());
  if (taps != extents || (conv->transposed && !all_are(taps, 1)) ||
      !all_are(ops::list_attribute(node, "dilation", conv->spatial, 1), 1))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const std::int64_t depth = conv->x[1] * model::elements_of(taps);
  const std::string x = builder.reshape(node.inputs[0], {conv->x[0], depth});
  const std::string weight =
      conv->transposed
          ? builder.reshape(node.inputs[1], {depth, conv->weight[1]})
          : builder.permute(builder.reshape(node.inputs[1], {conv->weight[0], depth}), {1, 0});
  std::string value = builder.op(op::matmul, {x, weight});
  if (node.inputs.size() > 2)
    value = builder.add(value, node.inputs[2]);
  return builder.finish(value);
}

std::optional<Replacement> pointwise_convolution(const GraphFacts &facts, const model::Node &node) {
  const auto conv = plain(facts, node);
  if (!conv || !all_are(model::Shape(conv->weight.begin() + 2, conv->weight.end()), 1))
    return std::nullopt;
  const model::Shape stride = ops::list_attribute(node, "stride", conv->spatial, 1);
  if (conv->transposed && !all_are(stride, 1))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  std::string x = node.inputs[0];
  for (std::size_t i = 0; i < conv->spatial; ++i)
    x = builder.slice(x, static_cast<std::int64_t>(i) + 2, 0, conv->x[i + 2], stride[i]);
  const model::Shape &shape = node.type().shape;
  const std::int64_t positions = model::elements_of(shape) / shape[0] / shape[1];
  x = builder.reshape(x, {conv->x[0], conv->x[1], positions});
  std::string weight = builder.reshape(node.inputs[1], {conv->weight[0], conv->weight[1]});
  if (conv->transposed)
    weight = builder.permute(weight, {1, 0});
  std::string value = builder.op(op::matmul, {weight, x});
  if (node.inputs.size() > 2)
    value = builder.add(value, builder.reshape(node.inputs[2], {shape[1], 1}));
  return builder.finish(value);
}

} // namespace warpwright::rewrites
