// States of torch modules in a live environment: the runner traces a module once, `warpwright env` answers from its op
// graph.
//
// Only the runner runs the user's Python. A state is its list of moves, so only traces are kept; states with equal
// plans share a text and a verdict. Thread: any; two threads that need the same trace at once may both make it.
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

  /// Description of a module before its first move.
  struct Opened {
    nlohmann::json definition; ///< model::Task
    std::string graph;         ///< text, for prompts
  };

  /// @param env outlives this
  /// @param device that plans are for; absent: a typical large GPU
  ModuleStates(EnvLine &env, Trace trace, const std::optional<model::DeviceInfo> &device);

  /// Errors: the reason why the module cannot be traced or planned.
  Result<Opened> open(const TrainingTask &task);
  /// Errors: illegal moves; as open().
  Result<StateRecord> state(const TrainingTask &task, const Moves &moves);
  /// The state's plan as JSON. Errors: a state without a plan; as state().
  Result<nlohmann::json> plan(const TrainingTask &task, const Moves &moves);

private:
  /// Members that all calls about a task share; the caller adds "moves".
  Result<nlohmann::json> call_of(const TrainingTask &task);

  EnvLine &env_;
  Trace trace_;
  nlohmann::json device_;
  Exclusive<std::map<std::string, nlohmann::json>> calls_; ///< by task
};

} // namespace warpwright::trainer
