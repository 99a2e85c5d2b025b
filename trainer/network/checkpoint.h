// A network with its vocabulary in one file, and the state of a stage beside the weights where it is to go on.
//
// The file is safetensors. Its metadata says what made it: format version, stage, step, shape, vocabulary, and the stage's own state as
// JSON. Weights that ship have no optimiser in them; checkpoints do. Thread: one.
#pragma once

#include "support/error.h"
#include "trainer/config/config.h"
#include "trainer/network/network.h"
#include "trainer/tokens/vocabulary.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {

struct Model {
  std::shared_ptr<Network> network;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string stage;     ///< that wrote it; empty: untrained
  std::int64_t step = 0; ///< of the stage
  nlohmann::json state;  ///< of the stage: drawings, rewards, cursors
};

/// @param device "cpu", "cuda". Errors: not readable, another format, tensors that do not fit.
Result<Model> load_model(const std::string &path, const std::string &device);
Model make_model(const NetworkConfig &network, const std::vector<std::string> &words,
                 std::uint64_t seed, const std::string &device);
/// Errors: a full disk, with the last file kept.
Result<void> save_model(const std::string &path, const Model &model, bool with_optimizer);

/// `folder`/STAGE.checkpoint.safetensors, and STAGE.safetensors once it is done.
std::string checkpoint_path(const std::string &folder, const std::string &stage);
std::string weights_path(const std::string &folder, const std::string &stage);

} // namespace warpwright::trainer
