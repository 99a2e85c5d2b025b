// Average pools merged into the convolution before them: one convolution with the averaged kernel and multiplied
// strides. The kernel k of the convolution (stride 1) becomes the box of the pool spread by k, extent k + pool - 1:
// cheaper as soon as the pool's windows do not overlap much. A transposed convolution whose stride divides the pool's
// becomes a plain one over the small input, since each pooled position takes the same taps. A bias stays, since
// averages keep it.
#include "generator/ops/cost.h"
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

struct Pattern {
  const model::Node &conv;
  model::Shape x, weight, result;         ///< shapes
  model::Shape stride, padding, dilation; ///< of the convolution
  model::Shape kernel, pool_stride;       ///< of the pool
  std::size_t spatial;
};

std::optional<Pattern> matched(const GraphFacts &facts, const model::Node &pool) {
  if (pool.op != op::avg_pool || !facts.read_once(pool.inputs[0]))
    return std::nullopt;
  const model::Node &conv = facts.node(pool.inputs[0]);
  if (conv.op != op::conv ||
      (pool.type().dtype != model::Dtype::Float32 && pool.type().dtype != model::Dtype::Float64))
    return std::nullopt;
  const model::Shape weight = facts.type(conv.inputs[1]).shape;
  const std::size_t spatial = weight.size() - 2;
  const auto kernel = ops::list_attribute(pool, "kernel");
  if (!kernel || kernel->size() != spatial || ops::flag_attribute(pool, "ceil") ||
      ops::integer_attribute(pool, "divisor") != 0 ||
      facts.type(conv.inputs[0]).shape.size() != spatial + 2 ||
      std::ranges::any_of(ops::list_attribute(pool, "padding", spatial, 0),
                          [](std::int64_t extent) { return extent != 0; }))
    return std::nullopt;
  Pattern pattern{conv,
                  facts.type(conv.inputs[0]).shape,
                  weight,
                  pool.type().shape,
                  ops::list_attribute(conv, "stride", spatial, 1),
                  ops::list_attribute(conv, "padding", spatial, 0),
                  ops::list_attribute(conv, "dilation", spatial, 1),
                  *kernel,
                  *kernel,
                  spatial};
  if (const auto stride = ops::list_attribute(pool, "stride"); stride && !stride->empty())
    pattern.pool_stride = ops::list_attribute(pool, "stride", spatial, 1);
  return pattern;
}

/// Returns the taps averaged over the pool's window: tap u is the sum of taps u - kernel + 1 to u, divided by the
/// window's size.
std::string boxed_weight(ReplacementBuilder &builder, const Pattern &pattern) {
  model::Shape low(pattern.weight.size(), 0), high = low;
  for (std::size_t i = 0; i < pattern.spatial; ++i)
    low[i + 2] = high[i + 2] = pattern.kernel[i] - 1;
  const std::string padded =
      builder.op(op::pad, {pattern.conv.inputs[1]}, {{"low", low}, {"high", high}, {"value", 0.0}});
  model::TensorType type = builder.type(padded);
  for (std::size_t i = 0; i < pattern.spatial; ++i)
    type.shape[i + 2] -= pattern.kernel[i] - 1;
  const model::Shape ones(pattern.spatial, 1), zeros(pattern.spatial, 0);
  return builder.node(op::avg_pool, {padded},
                      {{"kernel", pattern.kernel},
                       {"stride", ones},
                       {"padding", zeros},
                       {"ceil", false},
                       {"count_include_pad", true}},
                      type);
}

bool saves_enough(const Pattern &pattern, const model::Shape &new_weight) {
  const bool transposed = ops::flag_attribute(pattern.conv, "transposed");
  return ops::convolution_flops(pattern.x, new_weight, pattern.result, false) <
         0.7 * ops::convolution_flops(pattern.x, pattern.weight, pattern.conv.type().shape,
                                      transposed);
}

std::string convolution(ReplacementBuilder &builder, const Pattern &pattern, const std::string &x,
                        const std::string &weight, const model::Shape &stride,
                        const model::Shape &padding) {
  std::vector<std::string> inputs{x, weight};
  if (pattern.conv.inputs.size() > 2)
    inputs.push_back(pattern.conv.inputs[2]);
  return builder.node(op::conv, inputs,
                      {{"stride", stride},
                       {"padding", padding},
                       {"dilation", model::Shape(pattern.spatial, 1)},
                       {"output_padding", model::Shape(pattern.spatial, 0)},
                       {"groups", ops::integer_attribute(pattern.conv, "groups", 1)},
                       {"transposed", false}},
                      {pattern.conv.type().dtype, pattern.result, {}});
}

/// Along one dimension: tap `tap - r * stride` of the boxed weight meets input m * step + first + r, for r below
/// `count`.
struct Phase {
  std::int64_t first, step; ///< of inputs
  std::int64_t tap,
      count; ///< the last tap, met by the first input, and how many: taps descend by the stride
};

/// Pooled position m averages outputs m * pool_stride + s; output o is the sum over inputs i of x[i] * w[o + padding -
/// i * stride]. So it is the sum over i of x[i] * box[m * pool_stride + kernel - 1 + padding - i * stride], the box
/// being w spread over the window.
Phase phase_of(const Pattern &pattern, std::size_t i) {
  const std::int64_t stride = pattern.stride[i], step = pattern.pool_stride[i] / stride,
                     top = pattern.kernel[i] - 1 + pattern.padding[i],
                     taps = pattern.weight[i + 2] + pattern.kernel[i] - 1;
  // Inputs i = m * step + r meet tap top - r * stride, which must be in [0, taps).
  const std::int64_t low = top - (taps - 1);
  const std::int64_t first = low >= 0 ? (low + stride - 1) / stride : -(-low / stride);
  return {first, step, top - first * stride, (top - first * stride) / stride + 1};
}

} // namespace

std::optional<Replacement> pool_convolution(const GraphFacts &facts, const model::Node &node) {
  const auto pattern = matched(facts, node);
  if (!pattern || ops::flag_attribute(pattern->conv, "transposed"))
    return std::nullopt;
  model::Shape weight = pattern->weight, stride = pattern->stride;
  for (std::size_t i = 0; i < pattern->spatial; ++i) {
    // The window steps by the convolution's stride and a tap by its dilation; one kernel has one distance.
    if (pattern->stride[i] != 1 || pattern->dilation[i] != 1)
      return std::nullopt;
    weight[i + 2] += pattern->kernel[i] - 1;
    stride[i] = pattern->pool_stride[i];
  }
  if (!saves_enough(*pattern, weight))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  return builder.finish(convolution(builder, *pattern, pattern->conv.inputs[0],
                                    boxed_weight(builder, *pattern), stride, pattern->padding));
}

std::optional<Replacement> pool_transposed_conv(const GraphFacts &facts, const model::Node &node) {
  const auto pattern = matched(facts, node);
  if (!pattern || !ops::flag_attribute(pattern->conv, "transposed"))
    return std::nullopt;
  const std::size_t rank = pattern->spatial + 2;
  const std::int64_t groups = ops::integer_attribute(pattern->conv, "groups", 1);
  model::Shape low(rank, 0), high(rank, 0), stride,
      weight{pattern->result[1], pattern->x[1] / groups};
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < pattern->spatial; ++i) {
    if (pattern->dilation[i] != 1 || pattern->pool_stride[i] % pattern->stride[i] != 0)
      return std::nullopt;
    const Phase phase = phase_of(*pattern, i);
    if (phase.tap < 0) // windows that no tap reaches
      return std::nullopt;
    phases.push_back(phase);
    stride.push_back(phase.step);
    weight.push_back(phase.count);
    // The window of output m starts at input m * step + first; what is outside counts as 0.
    const std::int64_t needed = (pattern->result[i + 2] - 1) * phase.step + phase.count;
    low[i + 2] = -phase.first;
    high[i + 2] = needed - low[i + 2] - pattern->x[i + 2];
  }
  if (!saves_enough(*pattern, weight))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  std::string taps = boxed_weight(builder, *pattern);
  model::Shape flipped;
  for (std::size_t i = 0; i < pattern->spatial; ++i) {
    const auto dim = static_cast<std::int64_t>(i) + 2;
    const Phase &phase = phases[i];
    const std::int64_t last = phase.tap - (phase.count - 1) * pattern->stride[i];
    taps = builder.slice(taps, dim, last, phase.tap + 1, pattern->stride[i]);
    flipped.push_back(dim);
  }
  taps = builder.node(op::flip, {taps}, {{"dims", flipped}}, builder.type(taps));
  // From [inputs, outputs / groups, taps...] to [outputs, inputs / groups, taps...].
  model::Shape grouped{groups, pattern->x[1] / groups, pattern->weight[1]}, order{0, 2, 1};
  for (std::size_t i = 2; i < rank; ++i) {
    grouped.push_back(weight[i]);
    order.push_back(static_cast<std::int64_t>(i) + 1);
  }
  taps = builder.reshape(builder.permute(builder.reshape(taps, grouped), order), weight);
  // Padding that both ends share is the convolution's own.
  model::Shape padding;
  bool even = true;
  for (std::size_t i = 2; i < rank; ++i) {
    even = even && low[i] >= 0 && high[i] <= low[i] && high[i] > low[i] - stride[i - 2];
    padding.push_back(low[i]);
  }
  std::string x = pattern->conv.inputs[0];
  if (!even) {
    x = builder.op(op::pad, {x}, {{"low", low}, {"high", high}, {"value", 0.0}});
    padding.assign(pattern->spatial, 0);
  }
  return builder.finish(convolution(builder, *pattern, x, taps, stride, padding));
}

} // namespace warpwright::rewrites
