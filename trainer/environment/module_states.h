// Torch modules in a live environment: traced once by the runner, then asked of `warpwright env` by their op graph.
//
// Only the runner runs the user's Python. A state is the list of moves itself, so nothing is kept but the traces; states of equal plans share a
// text and so their verdict. Thread: any; two threads that need the same trace at once may both make it.
#pragma once

#include "runner/connect/connect.h"
#include "support/exclusive.h"
#include "trainer/environment/env_line.h"
#include "trainer/tasks/training_task.h"
#include "trainer/records/record.h"

#include <map>

namespace warpwright::trainer {

class ModuleStates {
public:
  using Trace = std::function<Result<runner::TracedModule>(const model::TorchModule &)>;

  /// What is known of a module before its first move.
  struct Opened {
    nlohmann::json definition; ///< model::Task
    std::string graph;         ///< text, for prompts
  };

  /// @param env outlives this
  /// @param device that plans are for; absent: a large GPU of these years
  ModuleStates(EnvLine &env, Trace trace, const std::optional<model::DeviceInfo> &device);

  /// Errors: why the module cannot be traced or planned.
  Result<Opened> open(const TrainingTask &task);
  /// Errors: moves that are not legal; as open().
  Result<StateRecord> state(const TrainingTask &task, const Moves &moves);
  /// JSON. Errors: a state without a plan; as state().
  Result<nlohmann::json> plan(const TrainingTask &task, const Moves &moves);

private:
  /// The members of every call but "moves".
  Result<nlohmann::json> call_of(const TrainingTask &task);

  EnvLine &env_;
  Trace trace_;
  nlohmann::json device_;
  Exclusive<std::map<std::string, nlohmann::json>> calls_; ///< by task
};

} // namespace warpwright::trainer
