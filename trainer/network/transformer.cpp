// Forward pass of the transformer. Shapes: B sequences, T tokens, C width, H heads, D = C / H.
#include "trainer/network/transformer.h"

#include <ATen/ATen.h>
#include <cmath>
#include <random>
#include <torch/version.h>

namespace warpwright::trainer {

/// Generator of initial weights. A seed gives the same weights on every device and version of LibTorch.
class Normal {
public:
  explicit Normal(std::uint64_t seed) : random_(seed) {}
  at::Tensor draw(const std::vector<std::int64_t> &shape, double deviation) {
    at::Tensor tensor = at::empty(shape, at::kFloat);
    float *values = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      values[i] = float(normal_(random_) * deviation);
    return tensor;
  }

private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

namespace {

constexpr double kEpsilon = 1e-6;
constexpr double kRotationBase = 10'000; ///< RoPE, Su et al. 2021

at::Tensor normalized(const at::Tensor &x, const at::Tensor &gain) {
  return x * at::rsqrt(x.pow(2).mean(-1, true) + kEpsilon) * gain;
}

/// @param q (B, H, T, D) @param k, v (B, H, S, D). Causal if T > 1, which requires T == S.
at::Tensor attention(const at::Tensor &q, const at::Tensor &k, const at::Tensor &v) {
  const bool causal = q.size(2) > 1;
#if TORCH_VERSION_MAJOR >= 2
  return at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal);
#else
  return std::get<0>(at::_scaled_dot_product_attention(q, k, v, {}, 0.0, false, causal));
#endif
}

} // namespace

Transformer::Transformer(const NetworkShape &shape, std::uint64_t seed, const at::Device &device)
    : shape_(shape), device_(device) {
  Normal normal(seed);
  const std::int64_t width = shape.width, head = width / shape.heads;
  const std::int64_t inner = (width * 8 / 3 + 15) / 16 * 16;
  const double deviation = 0.02, deep = deviation / std::sqrt(2.0 * shape.layers);
  embedding_ = add("embedding", {shape.vocabulary, width}, deviation, normal);
  for (int i = 0; i < shape.layers; ++i) {
    const std::string name = "layer." + std::to_string(i) + ".";
    Layer layer;
    layer.attention_norm = add(name + "attention_norm", {width}, 0, normal);
    layer.attention = add(name + "attention", {3 * width, width}, deviation, normal);
    layer.attention_out = add(name + "attention_out", {width, width}, deep, normal);
    layer.feed_norm = add(name + "feed_norm", {width}, 0, normal);
    layer.feed_in = add(name + "feed_in", {2 * inner, width}, deviation, normal);
    layer.feed_out = add(name + "feed_out", {width, inner}, deep, normal);
    layers_.push_back(layer);
  }
  last_norm_ = add("last_norm", {width}, 0, normal);
  const at::Tensor frequencies =
      at::pow(kRotationBase, -at::arange(0, head, 2, at::kFloat) / double(head)); // (D / 2)
  const at::Tensor angles =
      at::arange(0, shape.context, at::kFloat).unsqueeze(1) * frequencies.unsqueeze(0);
  cosines_ = angles.cos().to(device); // (context, D / 2)
  sines_ = angles.sin().to(device);
}

at::Tensor Transformer::add(const std::string &name, std::vector<std::int64_t> shape,
                            double deviation, Normal &normal) {
  const bool is_norm = shape.size() == 1;
  at::Tensor tensor = is_norm ? at::ones(shape, at::kFloat) : normal.draw(shape, deviation);
  tensor = tensor.to(device_);
  tensor.set_requires_grad(true);
  parameters_.push_back({name, tensor, !is_norm});
  return tensor;
}

at::Tensor Transformer::rotated(const at::Tensor &x, std::int64_t start) const {
  const std::int64_t length = x.size(2), half = x.size(3) / 2;
  const at::Tensor cosines = cosines_.narrow(0, start, length);
  const at::Tensor sines = sines_.narrow(0, start, length);
  const at::Tensor first = x.narrow(3, 0, half), second = x.narrow(3, half, half);
  return at::cat({first * cosines - second * sines, second * cosines + first * sines}, 3);
}

at::Tensor Transformer::attend(const Layer &layer, const at::Tensor &x, std::int64_t start,
                               KeyValues *cache, std::size_t index) const {
  const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  const auto all = at::linear(normalized(x, layer.attention_norm), layer.attention)
                       .view({batch, length, 3, shape_.heads, width / shape_.heads})
                       .permute({2, 0, 3, 1, 4}); // (3, B, H, T, D)
  const at::Tensor q = rotated(all.select(0, 0), start);
  at::Tensor k = rotated(all.select(0, 1), start), v = all.select(0, 2);
  if (cache && cache->keys.size() > index) {
    k = at::cat({cache->keys[index], k}, 2);
    v = at::cat({cache->values[index], v}, 2);
    cache->keys[index] = k;
    cache->values[index] = v;
  } else if (cache) {
    cache->keys.push_back(k);
    cache->values.push_back(v);
  }
  const at::Tensor mixed = attention(q, k, v).transpose(1, 2).reshape({batch, length, width});
  return at::linear(mixed, layer.attention_out);
}

at::Tensor Transformer::feed_forward(const Layer &layer, const at::Tensor &x) const {
  const auto halves = at::linear(normalized(x, layer.feed_norm), layer.feed_in).chunk(2, -1);
  return at::linear(at::silu(halves[0]) * halves[1], layer.feed_out);
}

at::Tensor Transformer::hidden(const at::Tensor &tokens, KeyValues *cache) const {
  const std::int64_t start = cache && !cache->keys.empty() ? cache->keys.front().size(2) : 0;
  at::Tensor x = at::embedding(embedding_, tokens); // (B, T, C)
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    x = x + attend(layers_[i], x, start, cache, i);
    x = x + feed_forward(layers_[i], x);
  }
  return normalized(x, last_norm_);
}

at::Tensor Transformer::logits(const at::Tensor &hidden) const {
  return at::linear(hidden, embedding_);
}

} // namespace warpwright::trainer
