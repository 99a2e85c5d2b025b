// Checkpoints: a network with its vocabulary in one file, and the state that a stage needs to resume.
//
// The file is in safetensors format. Its metadata holds format version, stage, step, shape, vocabulary and the stage's
// own state as JSON. Checkpoints include the optimizer's state; shipped weights do not. Thread: one.
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
  std::string stage;     ///< stage that wrote it; empty: untrained
  std::int64_t step = 0; ///< of the stage
  nlohmann::json state;  ///< of the stage: rewards, tried versions, cursors
};

/// @param device "cpu", "cuda", "cuda:1". Errors: an unreadable file, another format, tensors that do not fit.
Result<Model> load_model(const std::string &path, const std::string &device);
Model make_model(const NetworkConfig &network, const std::vector<std::string> &words,
                 std::uint64_t seed, const std::string &device);
/// Errors: a full disk; the previous file is then kept.
Result<void> save_model(const std::string &path, const Model &model, bool with_optimizer);

/// Paths of a stage's files: `folder`/STAGE.checkpoint.safetensors, and `folder`/STAGE.safetensors when it is done.
std::string checkpoint_path(const std::string &folder, const std::string &stage);
std::string weights_path(const std::string &folder, const std::string &stage);

} // namespace warpwright::trainer
