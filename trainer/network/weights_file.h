// Contents of a weights file without a network: format, shape, vocabulary, stage, tensors.
//
// Training (checkpoint.h) and inference without LibTorch both read it. Thread: any.
#pragma once

#include "trainer/network/safetensors.h"
#include "trainer/tokens/vocabulary.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {

inline constexpr const char *kWeightsFormat = "warpwright-policy-1";

struct WeightsFile {
  NetworkShape shape;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string stage;
  std::int64_t step = 0, optimizer_steps = 0;
  nlohmann::json state;
  std::vector<NamedTensor> tensors;
};

/// Errors: an unreadable file, another format, incomplete metadata.
Result<WeightsFile> read_weights(const std::string &path);

nlohmann::json shape_json(const NetworkShape &shape);

} // namespace warpwright::trainer
