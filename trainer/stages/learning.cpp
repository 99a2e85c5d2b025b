#include "support/version.h"
#include "trainer/stages/learning.h"

#include <filesystem>

namespace warpwright::trainer {
namespace {

/// Mixer of SplitMix64, which turns similar inputs into very different seeds.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

} // namespace

Result<Learning> Learning::start(const Config &config, const std::string &stage,
                                 const std::string &weights,
                                 const std::vector<std::string> &words) {
  set_threads(config.run.threads);
  auto log = TRY(RunLog::open(config.run.out, stage));
  Learning learning(config, stage, std::move(log));
  std::string problem;
  learning.world_ = join_world(config.run.device, problem);
  if (!problem.empty())
    return fail("cannot join the other processes: " + problem, "Start one process, or look at "
                                                               "the addresses that torchrun set");
  const std::string checkpoint = checkpoint_path(config.run.out, stage);
  const bool resumes = std::filesystem::exists(checkpoint);
  const std::string &from = resumes ? checkpoint : weights;
  if (from.empty()) {
    learning.model_ = make_model(config.network, words, config.run.seed, config.run.device);
    if (learning.writes()) // for comparison with trained weights
      TRY(save_model(weights_path(config.run.out, "untrained"), learning.model_, false));
  } else {
    learning.model_ = TRY(load_model(from, config.run.device));
  }
  if (!resumes) {
    learning.model_.step = 0;
    learning.model_.state = nlohmann::json::object();
    learning.model_.network->set_steps(0);
  }
  learning.model_.stage = stage;
  TRY(learning.log("start", {{"config", describe_config(config)},
                             {"seed", config.run.seed},
                             {"version", version()},
                             {"libtorch", describe_libtorch()},
                             {"from", from},
                             {"processes", learning.world_.size},
                             {"resumed_from_step", learning.model_.step}}));
  return learning;
}

std::mt19937_64 Learning::random_of_step() const {
  return std::mt19937_64(mixed(config_.run.seed) ^
                         mixed(std::uint64_t(model_.step) * 4096 + std::uint64_t(world_.rank)));
}

Result<void> Learning::log(const std::string &event, nlohmann::json fields) {
  return writes() ? log_.write(event, std::move(fields)) : Result<void>();
}

Result<void> Learning::finish_step(int every, bool last) {
  ++model_.step;
  if (!writes() || (!last && model_.step % every != 0))
    return {};
  return save_model(checkpoint_path(config_.run.out, stage_), model_, true);
}

Result<void> Learning::finish() {
  if (!writes())
    return {};
  Model shipped = model_;
  shipped.state = nlohmann::json::object(); // belongs to the run, not to the weights
  return save_model(weights_path(config_.run.out, stage_), shipped, false);
}

} // namespace warpwright::trainer
