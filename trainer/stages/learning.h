// What the stages that train share: where they start, how they go on after a kill, who writes in a world of several processes. Thread: main.
#pragma once

#include "trainer/network/checkpoint.h"
#include "trainer/policy/builtin.h"
#include "trainer/stages/run_log.h"
#include "trainer/stages/versions.h"

namespace warpwright::trainer {

/// A stage under way. Only the process of rank 0 writes logs and checkpoints.
class Learning {
public:
  /// Goes on from the stage's checkpoint in run.out where there is one, else from `weights`, else from new ones with `words`.
  /// Errors: files that cannot be read or written.
  static Result<Learning> start(const Config &config, const std::string &stage,
                                const std::string &weights, const std::vector<std::string> &words);

  Model &model() { return model_; }
  std::int64_t step() const { return model_.step; }
  const World &world() const { return world_; }
  bool writes() const { return world_.rank == 0; }
  /// For drawings of a step: the same after a kill, another for each process.
  std::mt19937_64 random_of_step() const;

  /// Errors: a full disk.
  Result<void> log(const std::string &event, nlohmann::json fields);
  /// After a step is done. Writes a checkpoint every `every` steps, and always when `last`.
  Result<void> finish_step(int every, bool last);
  /// The weights without the optimiser, to ship or to go on with.
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
