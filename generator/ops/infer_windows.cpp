// Types of products, convolution, pooling, upsampling and attention.
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"

namespace warpwright::ops::infer {

using model::Node;
using model::Shape;

Result<Types> matmul(const Node &, const Types &operands) {
  const Shape &a = operands[0].shape, &b = operands[1].shape;
  if (a.size() < 2 || b.size() < 2)
    return fail("operands " + text_of(operands[0]) + " and " + text_of(operands[1]) +
                "; vectors must be reshaped");
  const auto batch = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (a.back() != b[b.size() - 2] || !batch || operands[0].dtype != operands[1].dtype)
    return fail(text_of(operands[0]) + " times " + text_of(operands[1]));
  Shape shape = *batch;
  shape.insert(shape.end(), {a[a.size() - 2], b.back()});
  return single_result(operands[0].dtype, std::move(shape));
}

Result<Types> attention(const Node &, const Types &operands) {
  const Shape &q = operands[0].shape, &k = operands[1].shape, &v = operands[2].shape;
  const std::size_t rank = q.size();
  bool fits = rank >= 2 && k.size() == rank && v.size() == rank && q[rank - 1] == k[rank - 1] &&
              k[rank - 2] == v[rank - 2];
  for (std::size_t i = 0; fits && i + 2 < rank; ++i)
    fits = q[i] == k[i] && k[i] == v[i];
  if (!fits)
    return fail("query " + text_of(operands[0]) + ", key " + text_of(operands[1]) + ", value " +
                text_of(operands[2]));
  if (operands.size() == 4) {
    Shape scores = q;
    scores.back() = k[rank - 2];
    const auto masked = broadcast(operands[3].shape, scores);
    if (!masked || *masked != scores)
      return fail("a mask " + text_of(operands[3]) + " for scores " + text_of(scores));
  }
  Shape shape = q;
  shape.back() = v.back();
  return single_result(operands[0].dtype, std::move(shape));
}

namespace {

/// Attributes of a window, one number a spatial dimension.
struct Window {
  Shape kernel, stride, padding, dilation;
};

Result<Window> window_of(const Node &node, std::size_t count, Shape kernel) {
  Window window{std::move(kernel), list_attribute(node, "stride", count, 1),
                list_attribute(node, "padding", count, 0),
                list_attribute(node, "dilation", count, 1)};
  for (const Shape *list : {&window.kernel, &window.stride, &window.padding, &window.dilation})
    if (list->size() != count)
      return fail(text_of(*list) + " for " + std::to_string(count) + " spatial dimensions");
  for (std::size_t i = 0; i < count; ++i)
    if (window.kernel[i] < 1 || window.stride[i] < 1 || window.dilation[i] < 1 ||
        window.padding[i] < 0)
      return fail("a window that is empty or does not move");
  return window;
}

/// Returns the number of windows by PyTorch's formula. With `ceil` the last window must start inside the input or its
/// left padding.
std::int64_t window_count(const Window &window, std::size_t i, std::int64_t extent, bool ceil) {
  const std::int64_t span =
      extent + 2 * window.padding[i] - window.dilation[i] * (window.kernel[i] - 1) - 1;
  if (span < 0)
    return 0;
  const std::int64_t stride = window.stride[i];
  const std::int64_t count = (ceil ? (span + stride - 1) / stride : span / stride) + 1;
  return ceil && (count - 1) * stride >= extent + window.padding[i] ? count - 1 : count;
}

Result<Types> pool(const Node &node, const Types &operands) {
  Shape shape = operands[0].shape;
  if (shape.size() < 3 || shape.size() > 5)
    return fail("pooling of " + text_of(operands[0]));
  const std::size_t count = shape.size() - 2;
  auto window = window_of(node, count, list_attribute(node, "kernel", count, 1));
  if (!window)
    return std::unexpected(window.error());
  if (!find_attribute(node, "stride"))
    window->stride = window->kernel;
  for (std::size_t i = 0; i < count; ++i) {
    shape[i + 2] = window_count(*window, i, shape[i + 2], flag_attribute(node, "ceil"));
    if (shape[i + 2] < 1)
      return fail("a window larger than " + text_of(operands[0]));
  }
  return single_result(operands[0].dtype, std::move(shape));
}

} // namespace

Result<Types> conv(const Node &node, const Types &operands) {
  const Shape &x = operands[0].shape, &weight = operands[1].shape;
  const std::int64_t groups = integer_attribute(node, "groups", 1);
  const bool transposed = flag_attribute(node, "transposed");
  if (x.size() < 3 || x.size() > 5 || weight.size() != x.size() || groups < 1)
    return fail(text_of(operands[0]) + " convolved with " + text_of(operands[1]));
  const std::int64_t channels_in = transposed ? weight[0] : weight[1] * groups;
  const std::int64_t channels_out = transposed ? weight[1] * groups : weight[0];
  if (x[1] != channels_in || channels_in % groups != 0 || channels_out % groups != 0)
    return fail("channels of " + text_of(operands[0]) + " and " + text_of(operands[1]) + " in " +
                std::to_string(groups) + " groups");
  if (operands.size() == 3 && operands[2].shape != Shape{channels_out})
    return fail("a bias " + text_of(operands[2]) + " for " + std::to_string(channels_out) +
                " channels");
  const std::size_t count = x.size() - 2;
  const auto window = window_of(node, count, Shape(weight.begin() + 2, weight.end()));
  if (!window)
    return std::unexpected(window.error());
  const Shape more = list_attribute(node, "output_padding", count, 0);
  Shape shape{x[0], channels_out};
  for (std::size_t i = 0; i < count; ++i)
    shape.push_back(transposed ? (x[i + 2] - 1) * window->stride[i] - 2 * window->padding[i] +
                                     window->dilation[i] * (window->kernel[i] - 1) + more[i] + 1
                               : window_count(*window, i, x[i + 2], false));
  return single_result(operands[0].dtype, std::move(shape));
}

Result<Types> max_pool(const Node &node, const Types &operands) { return pool(node, operands); }

Result<Types> avg_pool(const Node &node, const Types &operands) { return pool(node, operands); }

Result<Types> adaptive_pool(const Node &node, const Types &operands) {
  const Shape &x = operands[0].shape, &result = node.type().shape;
  if (x.size() < 3 || x.size() > 5 || result.size() != x.size() || result[0] != x[0] ||
      result[1] != x[1])
    return fail(text_of(operands[0]) + " pooled to " + text_of(result));
  return single_result(operands[0].dtype, result);
}

Result<Types> upsample_nearest(const Node &node, const Types &operands) {
  Shape shape = operands[0].shape;
  const Shape scales = *list_attribute(node, "scales");
  const std::size_t first = shape.size() - std::min(shape.size(), scales.size());
  if (first != 0 && first != 2) // of all dimensions, or of those of space
    return fail(std::to_string(scales.size()) + " scales for " + text_of(operands[0]));
  for (std::size_t i = 0; i < scales.size(); ++i)
    shape[first + i] *= scales[i];
  return single_result(operands[0].dtype, std::move(shape));
}

} // namespace warpwright::ops::infer
