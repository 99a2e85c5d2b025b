// Common part of the training stages: initial weights, resuming after a kill, and output with several processes.
// Thread: main.
#pragma once

#include "trainer/network/checkpoint.h"
#include "trainer/policy/builtin.h"
#include "trainer/stages/run_log.h"
#include "trainer/stages/versions.h"

namespace warpwright::trainer {

/// A running stage. Only the process of rank 0 writes logs and checkpoints.
class Learning {
public:
  /// Starts from the stage's checkpoint in run.out; without one from `weights`; if that is empty, from new weights with
  /// the vocabulary `words`. Errors: files that cannot be read or written; other processes that cannot be joined.
  static Result<Learning> start(const Config &config, const std::string &stage,
                                const std::string &weights, const std::vector<std::string> &words);

  Model &model() { return model_; }
  std::int64_t step() const { return model_.step; }
  const World &world() const { return world_; }
  bool writes() const { return world_.rank == 0; }
  /// Random generator of the current step: the same after a restart, different for each process.
  std::mt19937_64 random_of_step() const;

  /// Errors: a full disk.
  Result<void> log(const std::string &event, nlohmann::json fields);
  /// Call it after each step. Writes a checkpoint every `every` steps, and always if `last`.
  Result<void> finish_step(int every, bool last);
  /// Writes the weights without optimizer state, for shipping or for the next stage.
  Result<void> finish();

private:
  Learning(const Config &config, std::string stage, RunLog log)
      : config_(config), stage_(std::move(stage)), log_(std::move(log)) {}

  Config config_;
  std::string stage_;
  RunLog log_;
  Model model_;
  World world_;
};

} // namespace warpwright::trainer
