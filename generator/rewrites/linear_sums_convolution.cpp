// Sums over the batch, the channels or the space of a convolution. A sum over the batch is taken of the input, one over
// output channels of the weight. Along space each tap of the kernel meets a window of the input that does not depend on
// the position, so the sum over positions is the tap times the sum over its window: along that dimension the input
// shrinks to one sum per tap, and the convolution to one position.
#include "generator/ops/cost.h"
#include "generator/ops/names.h"
#include "generator/rewrites/linear_sums.h"
#include "generator/rewrites/rule_tools.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

struct ConvolutionParts {
  std::string x, weight;
  model::Shape stride, padding, dilation, output_padding;
  std::int64_t groups;
  bool transposed;
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// Returns, for each tap along a spatial dimension, the inputs that it meets over all output positions.
std::vector<TapWindow> windows_of_taps(const ConvolutionParts &parts, std::size_t spatial,
                                       std::int64_t extent, std::int64_t taps,
                                       std::int64_t positions) {
  std::vector<TapWindow> windows;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t shift = tap * parts.dilation[spatial] - parts.padding[spatial],
                       stride = parts.stride[spatial];
    if (parts.transposed) { // output = input * stride + shift
      const std::int64_t first = std::max<std::int64_t>(0, ceil_div(-shift, stride)),
                         last = std::min(extent - 1, floor_div(positions - 1 - shift, stride));
      windows.push_back({first, last + 1, 1});
    } else { // input = output * stride + shift
      const std::int64_t first = std::max<std::int64_t>(0, ceil_div(-shift, stride)),
                         last = std::min(positions - 1, floor_div(extent - 1 - shift, stride));
      windows.push_back({first * stride + shift, last * stride + shift + 1, stride});
    }
    if (windows.back().stop <= windows.back().start)
      windows.back() = {};
  }
  return windows;
}

/// Returns the weight summed over all groups' output channels, for a convolution with one output channel and no groups.
std::string summed_over_outputs(ReplacementBuilder &builder, const ConvolutionParts &parts) {
  model::Shape shape = builder.type(parts.weight).shape;
  if (parts.transposed) // [inputs, outputs / groups, taps...]
    return builder.reduce(op::sum, parts.weight, {1}, true);
  const model::Shape taps(shape.begin() + 2, shape.end());
  model::Shape grouped{parts.groups, shape[0] / parts.groups, shape[1]},
      joined{1, parts.groups * shape[1]};
  grouped.insert(grouped.end(), taps.begin(), taps.end());
  joined.insert(joined.end(), taps.begin(), taps.end());
  return builder.reshape(builder.reduce(op::sum, builder.reshape(parts.weight, grouped), {1}, false),
                         joined);
}

/// Moves the taps along `spatial` into the input channels, of a transposed convolution with one input sum per tap.
void taps_to_channels(ReplacementBuilder &builder, ConvolutionParts &parts, std::size_t spatial) {
  model::Shape x = builder.type(parts.x).shape, weight = builder.type(parts.weight).shape;
  const std::size_t rank = x.size(), at = spatial + 2;
  const std::int64_t taps = weight[at];
  model::Shape order{0, static_cast<std::int64_t>(at), 1};
  for (std::size_t i = 2; i < rank; ++i)
    if (i != at)
      order.push_back(static_cast<std::int64_t>(i));
  // In both, input channels come first, then taps. The removed extent stays as 1 in its place.
  model::Shape x_order{0, 1, static_cast<std::int64_t>(at)};
  x_order.insert(x_order.end(), order.begin() + 3, order.end());
  x[1] *= taps;
  x[at] = 1;
  weight[0] *= taps;
  weight[at] = 1;
  parts.x = builder.reshape(builder.permute(parts.x, x_order), x);
  parts.weight = builder.reshape(builder.permute(parts.weight, order), weight);
}

} // namespace

std::optional<std::string> LinearSums::sum_of_convolution(const model::Node &node,
                                                          const model::Shape &dims) {
  const model::Shape x_shape = facts_.type(node.inputs[0]).shape,
                     weight_shape = facts_.type(node.inputs[1]).shape, shape = node.type().shape;
  const std::size_t spatial = weight_shape.size() - 2;
  if (x_shape.size() != spatial + 2)
    return std::nullopt;
  ConvolutionParts parts{node.inputs[0],
                         node.inputs[1],
                         ops::list_attribute(node, "stride", spatial, 1),
                         ops::list_attribute(node, "padding", spatial, 0),
                         ops::list_attribute(node, "dilation", spatial, 1),
                         ops::list_attribute(node, "output_padding", spatial, 0),
                         ops::integer_attribute(node, "groups", 1),
                         ops::flag_attribute(node, "transposed")};
  const double before = ops::convolution_flops(x_shape, weight_shape, shape, parts.transposed);
  model::Shape result = shape;
  for (const std::int64_t dim : dims)
    result[static_cast<std::size_t>(dim)] = 1;
  double after = 0;
  if (contains(dims, 0))
    parts.x = builder_.reduce(op::sum, parts.x, {0}, true);
  if (contains(dims, 1)) {
    parts.weight = summed_over_outputs(builder_, parts);
    parts.groups = 1;
  }
  for (std::size_t i = spatial; i-- > 0;) {
    if (!contains(dims, static_cast<std::int64_t>(i) + 2))
      continue;
    const std::vector<TapWindow> windows =
        windows_of_taps(parts, i, x_shape[i + 2], weight_shape[i + 2], shape[i + 2]);
    after += static_cast<double>(model::elements_of(builder_.type(parts.x).shape));
    parts.x = window_sums(builder_, parts.x, static_cast<std::int64_t>(i) + 2, windows);
    parts.stride[i] = parts.dilation[i] = 1;
    parts.padding[i] = parts.output_padding[i] = 0;
    if (parts.transposed)
      taps_to_channels(builder_, parts, i);
  }
  after += ops::convolution_flops(builder_.type(parts.x).shape, builder_.type(parts.weight).shape,
                                  result, parts.transposed);
  if (after > 0.5 * before)
    return std::nullopt;
  saved_flops_ += before - after;
  std::string value = builder_.node(op::conv, {parts.x, parts.weight},
                                    {{"stride", parts.stride},
                                     {"padding", parts.padding},
                                     {"dilation", parts.dilation},
                                     {"output_padding", parts.output_padding},
                                     {"groups", parts.groups},
                                     {"transposed", parts.transposed}},
                                    {node.type().dtype, result, {}});
  if (node.inputs.size() < 3)
    return value;
  model::Shape channels(shape.size(), 1);
  std::string bias = node.inputs[2];
  if (contains(dims, 1))
    bias = builder_.reduce(op::sum, bias, {0}, true);
  channels[1] = builder_.type(bias).shape[0];
  model::Shape repeated = dims;
  std::erase(repeated, 1);
  bias = scaled(builder_.reshape(bias, channels), static_cast<double>(extent_of(shape, repeated)));
  return builder_.add(value, bias);
}

} // namespace warpwright::rewrites
