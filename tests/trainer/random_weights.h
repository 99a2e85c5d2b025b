// A file of weights that nobody trained, without LibTorch: for tests of what is around the policy.
#pragma once

#include "trainer/network/weights_file.h"

#include <random>

namespace warpwright::trainer::testing {

/// @param words beyond the fixed ones of every vocabulary
inline Result<void> write_random_weights(const std::string &path,
                                         const std::vector<std::string> &words = {}) {
  constexpr std::int64_t kWidth = 32, kInner = 96; // width * 8 / 3, rounded up to 16
  const Vocabulary vocabulary(words);
  NetworkShape shape;
  shape.vocabulary = vocabulary.size();
  shape.width = kWidth;
  shape.layers = 1;
  shape.heads = 2;
  TensorFile file;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.1f);
  const auto add = [&](const std::string &name, std::vector<std::int64_t> extents) {
    NamedTensor tensor{name, extents, {}};
    std::int64_t count = 1;
    for (const std::int64_t extent : extents)
      count *= extent;
    for (std::int64_t i = 0; i < count; ++i)
      tensor.values.push_back(extents.size() == 1 ? 1 : normal(random));
    file.tensors.push_back(std::move(tensor));
  };
  add("embedding", {shape.vocabulary, kWidth});
  add("layer.0.attention_norm", {kWidth});
  add("layer.0.attention", {3 * kWidth, kWidth});
  add("layer.0.attention_out", {kWidth, kWidth});
  add("layer.0.feed_norm", {kWidth});
  add("layer.0.feed_in", {2 * kInner, kWidth});
  add("layer.0.feed_out", {kWidth, kInner});
  add("last_norm", {kWidth});
  file.metadata = {{"format", kWeightsFormat},
                   {"stage", "untrained"},
                   {"step", "0"},
                   {"optimizer_steps", "0"},
                   {"state", "null"},
                   {"shape", shape_json(shape).dump()},
                   {"vocabulary", nlohmann::json(vocabulary.words()).dump()}};
  return write_safetensors(path, file);
}

} // namespace warpwright::trainer::testing
