#include "generator/ops/attributes.h"
#include "tests/generator/graph_interpreter_ops.h"

#include <algorithm>
#include <limits>

namespace warpwright::test {
namespace {

Array matmul(const Array &a, const Array &b) {
  const model::Shape a_batch(a.shape.begin(), a.shape.end() - 2),
      b_batch(b.shape.begin(), b.shape.end() - 2);
  model::Shape shape = broadcast_shape(a_batch, b_batch);
  shape.push_back(a.shape[a.shape.size() - 2]);
  shape.push_back(b.shape.back());
  Array result(promote(a.dtype, b.dtype), shape);
  const std::int64_t depth = a.shape.back();
  std::size_t next = 0;
  for_each_index(shape, [&](const model::Shape &index) {
    model::Shape in_a = index, in_b = index;
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      in_a.back() = k;
      in_b[in_b.size() - 2] = k;
      sum += a.broadcast_at(in_a) * b.broadcast_at(in_b);
    }
    result.values[next++] = sum;
  });
  return result;
}

Array transposed(const Array &x) {
  model::Shape shape = x.shape;
  std::swap(shape.back(), shape[shape.size() - 2]);
  Array result(x.dtype, shape);
  for_each_index(shape, [&](const model::Shape &index) {
    model::Shape from = index;
    std::swap(from.back(), from[from.size() - 2]);
    result.at(index) = x.at(from);
  });
  return result;
}

/// softmax(cap(scale * q k^T) + mask) v, where cap(x) is softcap * tanh(x / softcap); a boolean mask says what is attended to, `causal` attends to columns up to the row.
Array attention(const model::Node &node, const Operands &inputs) {
  const Array &q = *inputs[0];
  const double scale =
      ops::number_attribute(node, "scale", 1 / std::sqrt(static_cast<double>(q.shape.back())));
  const double softcap = ops::number_attribute(node, "softcap", 0);
  Array scores = matmul(q, transposed(*inputs[1]));
  const double nothing = -std::numeric_limits<double>::infinity();
  for_each_index(scores.shape, [&](const model::Shape &index) {
    double &score = scores.at(index);
    score *= scale;
    if (softcap != 0)
      score = softcap * std::tanh(score / softcap);
    if (inputs.size() > 3 && inputs[3]->dtype == model::Dtype::Bool)
      score = inputs[3]->broadcast_at(index) != 0 ? score : nothing;
    else if (inputs.size() > 3)
      score += inputs[3]->broadcast_at(index);
    if (ops::flag_attribute(node, "causal") && index.back() > index[index.size() - 2])
      score = nothing;
  });
  model::Shape rows = scores.shape;
  rows.back() = 1;
  for_each_index(rows, [&](model::Shape index) {
    double largest = nothing, sum = 0;
    for (index.back() = 0; index.back() < scores.shape.back(); ++index.back())
      largest = std::max(largest, scores.at(index));
    for (index.back() = 0; index.back() < scores.shape.back(); ++index.back())
      sum += std::exp(scores.at(index) - largest);
    for (index.back() = 0; index.back() < scores.shape.back(); ++index.back())
      scores.at(index) = std::exp(scores.at(index) - largest) / sum;
  });
  return matmul(scores, *inputs[2]);
}

struct Window {
  model::Shape kernel, stride, padding, dilation; ///< one a spatial dimension
};

Window window_of(const model::Node &node, model::Shape kernel) {
  const std::size_t count = kernel.size();
  Window window{.kernel = std::move(kernel), .padding = {}};
  window.stride = ops::list_attribute(node, "stride", count, 1);
  window.padding = ops::list_attribute(node, "padding", count, 0);
  window.dilation = ops::list_attribute(node, "dilation", count, 1);
  return window;
}

/// x with a batch dimension of 1 put before it where it has none.
Array batched(const Array &x, std::size_t spatial) {
  Array result = x;
  if (x.shape.size() == spatial + 1)
    result.shape.insert(result.shape.begin(), 1);
  return result;
}

Array conv(const model::Node &node, const Operands &inputs) {
  const Array &weight = *inputs[1];
  const std::size_t spatial = weight.shape.size() - 2;
  const Array x = batched(*inputs[0], spatial);
  const Window window = window_of(node, model::Shape(weight.shape.begin() + 2, weight.shape.end()));
  const bool backwards = ops::flag_attribute(node, "transposed");
  const model::Shape output_padding = ops::list_attribute(node, "output_padding", spatial, 0);
  const std::int64_t groups = ops::integer_attribute(node, "groups", 1);
  const std::int64_t out_channels = backwards ? weight.shape[1] * groups : weight.shape[0];
  const std::int64_t in_a_group = x.shape[1] / groups, out_a_group = out_channels / groups;
  model::Shape shape{x.shape[0], out_channels};
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t reach = window.dilation[i] * (window.kernel[i] - 1);
    shape.push_back(
        backwards ? (x.shape[i + 2] - 1) * window.stride[i] - 2 * window.padding[i] + reach +
                        output_padding[i] + 1
                  : (x.shape[i + 2] + 2 * window.padding[i] - reach - 1) / window.stride[i] + 1);
  }
  Array result(promote(x.dtype, weight.dtype), shape);
  // Each (position with x, tap, input channel, output channel) adds one product.
  const model::Shape loops(backwards ? x.shape.begin() + 2 : shape.begin() + 2,
                           backwards ? x.shape.end() : shape.end());
  const auto add_products = [&](std::int64_t n, const model::Shape &in, const model::Shape &out,
                                const model::Shape &tap) {
    model::Shape x_index{n, 0}, out_index{n, 0}, w_index{0, 0};
    x_index.insert(x_index.end(), in.begin(), in.end());
    out_index.insert(out_index.end(), out.begin(), out.end());
    w_index.insert(w_index.end(), tap.begin(), tap.end());
    for (std::int64_t o = 0; o < out_channels; ++o)
      for (std::int64_t c = 0; c < in_a_group; ++c) {
        const std::int64_t group = o / out_a_group;
        x_index[1] = group * in_a_group + c;
        out_index[1] = o;
        w_index[0] = backwards ? x_index[1] : o;
        w_index[1] = backwards ? o % out_a_group : c;
        result.at(out_index) += x.at(x_index) * weight.at(w_index);
      }
  };
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for_each_index(loops, [&](const model::Shape &at) {
      for_each_index(window.kernel, [&](const model::Shape &tap) {
        model::Shape other(spatial);
        for (std::size_t i = 0; i < spatial; ++i) {
          other[i] = at[i] * window.stride[i] - window.padding[i] + tap[i] * window.dilation[i];
          if (other[i] < 0 || other[i] >= (backwards ? shape : x.shape)[i + 2])
            return;
        }
        backwards ? add_products(n, at, other, tap) : add_products(n, other, at, tap);
      });
    });
  if (inputs.size() > 2)
    for_each_index(shape, [&](const model::Shape &index) {
      result.at(index) += inputs[2]->values[static_cast<std::size_t>(index[1])];
    });
  if (inputs[0]->shape.size() == spatial + 1)
    result.shape.erase(result.shape.begin());
  return result;
}

std::int64_t pooled_extent(std::int64_t extent, std::int64_t reach, std::int64_t stride,
                           std::int64_t padding, bool ceil) {
  std::int64_t count = (extent + 2 * padding - reach - 1 + (ceil ? stride - 1 : 0)) / stride + 1;
  // With ceil a window must start inside the input or its left padding.
  return ceil && (count - 1) * stride >= extent + padding ? count - 1 : count;
}

Array pool(const model::Node &node, const Array &x) {
  const bool average = node.op == "avg_pool";
  const bool ceil = ops::flag_attribute(node, "ceil");
  const model::Shape kernel = ops::list_attribute(node, "kernel").value_or(model::Shape{});
  Window window = window_of(node, kernel);
  if (!ops::find_attribute(node, "stride") || ops::list_attribute(node, "stride")->empty())
    window.stride = kernel;
  const std::size_t first = x.shape.size() - kernel.size();
  model::Shape shape = x.shape;
  for (std::size_t i = 0; i < kernel.size(); ++i)
    shape[first + i] = pooled_extent(x.shape[first + i], window.dilation[i] * (kernel[i] - 1),
                                     window.stride[i], window.padding[i], ceil);
  Array result(x.dtype, shape);
  for_each_index(shape, [&](const model::Shape &index) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    std::int64_t inside = 0, with_padding = 1;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t start = index[first + i] * window.stride[i] - window.padding[i];
      with_padding *= std::min(start + kernel[i], x.shape[first + i] + window.padding[i]) - start;
    }
    for_each_index(kernel, [&](const model::Shape &tap) {
      model::Shape from = index;
      for (std::size_t i = 0; i < kernel.size(); ++i) {
        std::int64_t &at = from[first + i];
        at = at * window.stride[i] - window.padding[i] + tap[i] * window.dilation[i];
        if (at < 0 || at >= x.shape[first + i])
          return;
      }
      const double value = x.at(from);
      largest = std::isnan(value) || value > largest ? value : largest;
      sum += value;
      ++inside;
    });
    const std::int64_t divisor = ops::integer_attribute(node, "divisor");
    const std::int64_t count = divisor                                                ? divisor
                               : ops::flag_attribute(node, "count_include_pad", true) ? with_padding
                                                                                      : inside;
    result.at(index) = average ? sum / static_cast<double>(count) : largest;
  });
  return result;
}

/// Result element i of n takes inputs floor(i * extent / n) up to ceil((i + 1) * extent / n), in every dimension.
Array adaptive_pool(const model::Node &node, const Array &x) {
  Array result(x.dtype, node.type().shape);
  for_each_index(result.shape, [&](const model::Shape &index) {
    model::Shape start = index, extents = index;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t n = result.shape[i];
      start[i] = index[i] * x.shape[i] / n;
      extents[i] = ((index[i] + 1) * x.shape[i] + n - 1) / n - start[i];
    }
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for_each_index(extents, [&](model::Shape at) {
      for (std::size_t i = 0; i < at.size(); ++i)
        at[i] += start[i];
      largest = std::max(largest, x.at(at));
      sum += x.at(at);
    });
    result.at(index) = node.op == "adaptive_max_pool"
                           ? largest
                           : sum / static_cast<double>(model::elements_of(extents));
  });
  return result;
}

Array upsample_nearest(const model::Node &node, const Array &x) {
  Array result(x.dtype, node.type().shape);
  for_each_index(result.shape, [&](const model::Shape &index) {
    model::Shape from = index;
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = from[i] * x.shape[i] / result.shape[i];
    result.at(index) = x.at(from);
  });
  return result;
}

} // namespace

Results interpret_product(const model::Node &node, const Operands &inputs) {
  if (node.op == "matmul")
    return std::vector{matmul(*inputs[0], *inputs[1])};
  if (node.op == "attention")
    return std::vector{attention(node, inputs)};
  if (node.op == "conv")
    return std::vector{conv(node, inputs)};
  return std::nullopt;
}

Results interpret_window(const model::Node &node, const Operands &inputs) {
  if (node.op == "max_pool" || node.op == "avg_pool")
    return std::vector{pool(node, *inputs[0])};
  if (node.op == "adaptive_avg_pool" || node.op == "adaptive_max_pool")
    return std::vector{adaptive_pool(node, *inputs[0])};
  if (node.op == "upsample_nearest")
    return std::vector{upsample_nearest(node, *inputs[0])};
  return std::nullopt;
}

} // namespace warpwright::test
