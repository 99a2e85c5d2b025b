// Weights and forward pass of the transformer, over ATen. Includes LibTorch; C++17. Thread: one at a time.
#pragma once

#include "trainer/network/network.h"

#include <ATen/core/Tensor.h>

namespace warpwright::trainer {

/// Cached keys and values, one tensor (B, H, T, D) per layer.
struct KeyValues {
  std::vector<at::Tensor> keys, values;
};

class Transformer {
public:
  Transformer(const NetworkShape &shape, std::uint64_t seed, const at::Device &device);

  struct Parameter {
    std::string name;
    at::Tensor tensor;
    bool decays; ///< weight decay: on for matrices, off for norms
  };
  std::vector<Parameter> &parameters() { return parameters_; }
  const std::vector<Parameter> &parameters() const { return parameters_; }
  const at::Device &device() const { return device_; }

  /// @param tokens (B, T) int64 @param cache appended to, if not null @return (B, T, C), after the last norm
  at::Tensor hidden(const at::Tensor &tokens, KeyValues *cache = nullptr) const;
  /// @param hidden (N, C) @return (N, V)
  at::Tensor logits(const at::Tensor &hidden) const;

private:
  struct Layer {
    at::Tensor attention_norm, attention, attention_out, feed_norm, feed_in, feed_out;
  };
  at::Tensor add(const std::string &name, std::vector<std::int64_t> shape, double deviation,
                 class Normal &normal);
  at::Tensor attend(const Layer &layer, const at::Tensor &x, std::int64_t start, KeyValues *cache,
                    std::size_t index) const;
  at::Tensor feed_forward(const Layer &layer, const at::Tensor &x) const;
  at::Tensor rotated(const at::Tensor &x, std::int64_t start) const;

  NetworkShape shape_;
  at::Device device_;
  std::vector<Parameter> parameters_;
  at::Tensor embedding_, last_norm_, cosines_, sines_;
  std::vector<Layer> layers_;
};

} // namespace warpwright::trainer
