// A transposed convolution with stride s as one convolution over the small input, with s outputs per position along
// each dimension that are then interleaved. It is a choice, for where plain convolutions are faster.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

/// Output m * s + r takes input m - j through tap j * s + r + padding.
struct Taps {
  std::int64_t least, count; ///< of j, over all r
};

Taps taps_of(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const std::int64_t low = -(stride - 1) - padding; // of j * stride, for r = stride - 1
  const std::int64_t least = -(-low / stride), most = (kernel - 1 - padding) / stride;
  return {least, most - least + 1};
}

} // namespace

std::optional<Replacement> phases_of_transposed_conv(const GraphFacts &facts,
                                                     const model::Node &node) {
  if (node.op != op::conv || !ops::flag_attribute(node, "transposed") ||
      ops::integer_attribute(node, "groups", 1) != 1)
    return std::nullopt;
  const model::Shape x = facts.type(node.inputs[0]).shape,
                     weight = facts.type(node.inputs[1]).shape;
  const std::size_t spatial = weight.size() - 2;
  const model::Shape stride = ops::list_attribute(node, "stride", spatial, 1),
                     padding = ops::list_attribute(node, "padding", spatial, 0);
  const model::Shape dilation = ops::list_attribute(node, "dilation", spatial, 1);
  if (x.size() != weight.size() || std::ranges::any_of(dilation, [](auto d) { return d != 1; }))
    return std::nullopt;
  const model::Shape &shape = node.type().shape;
  model::Shape w_low(2, 0), w_high(2, 0), x_low(2, 0), x_high(2, 0), split{x[1], weight[1]};
  model::Shape flips, w_order{1}, taps{0, x[1]}, phases{x[0], weight[1]}, positions;
  std::int64_t factor = 1;
  for (std::size_t i = 0; i < spatial; ++i) {
    if (padding[i] > weight[i + 2] - 1)
      return std::nullopt;
    const Taps along = taps_of(weight[i + 2], stride[i], padding[i]);
    const auto place = static_cast<std::int64_t>(2 + 2 * i);
    w_low.push_back(-(along.least * stride[i] + padding[i]));
    w_high.push_back(along.count * stride[i] - weight[i + 2] - w_low.back());
    split.insert(split.end(), {along.count, stride[i]});
    flips.push_back(place);
    w_order.push_back(place + 1);
    taps.push_back(along.count);
    factor *= stride[i];
    positions.push_back((shape[i + 2] + stride[i] - 1) / stride[i]);
    x_low.push_back(along.least + along.count - 1);
    x_high.push_back(positions[i] - along.least - x[i + 2]);
  }
  if (factor == 1)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  std::string w = builder.reshape(
      builder.op(op::pad, {node.inputs[1]}, {{"low", w_low}, {"high", w_high}, {"value", 0.0}}),
      split);
  w = builder.node(op::flip, {w}, {{"dims", flips}}, builder.type(w));
  w_order.push_back(0);
  w_order.insert(w_order.end(), flips.begin(), flips.end());
  taps[0] = weight[1] * factor;
  w = builder.reshape(builder.permute(w, w_order), taps);
  const std::string padded =
      builder.op(op::pad, {node.inputs[0]}, {{"low", x_low}, {"high", x_high}, {"value", 0.0}});
  model::Shape convolved{x[0], taps[0]}, order{0, 1}, joined{x[0], weight[1]};
  convolved.insert(convolved.end(), positions.begin(), positions.end());
  phases.insert(phases.end(), stride.begin(), stride.end());
  phases.insert(phases.end(), positions.begin(), positions.end());
  for (std::size_t i = 0; i < spatial; ++i) {
    order.insert(order.end(),
                 {static_cast<std::int64_t>(2 + spatial + i), static_cast<std::int64_t>(2 + i)});
    joined.push_back(positions[i] * stride[i]);
  }
  const model::Shape ones(spatial, 1), zeros(spatial, 0);
  std::string value = builder.node(op::conv, {padded, w},
                                   {{"stride", ones},
                                    {"padding", zeros},
                                    {"dilation", ones},
                                    {"output_padding", zeros},
                                    {"groups", std::int64_t{1}},
                                    {"transposed", false}},
                                   {node.type().dtype, convolved, {}});
  value = builder.reshape(builder.permute(builder.reshape(value, phases), order), joined);
  for (std::size_t i = 0; i < spatial; ++i)
    value = builder.slice(value, static_cast<std::int64_t>(i) + 2, 0, shape[i + 2]);
  if (node.inputs.size() > 2) {
    model::Shape channels(spatial + 1, 1);
    channels[0] = weight[1];
    value = builder.add(value, builder.reshape(node.inputs[2], channels));
  }
  return builder.finish(value);
}

} // namespace warpwright::rewrites
