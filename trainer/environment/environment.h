// What a policy acts in: states of tasks, their legal moves, and verdicts. Live or recorded behind one interface.
//
// Live asks `warpwright env` (a child process: Clang and LibTorch never share one) for states and a runner for verdicts,
// and writes all of it into a record book. Recorded replays a book: in it a state's legal moves are those that lead to
// recorded states, so that training never leaves what was measured; a miss is measured where a live environment stands
// behind it, and refused where none does.
// Thread: any; calls may block for the time of a measurement. `measure` may be called by several threads at once.
#pragma once

#include "trainer/tasks/training_task.h"
#include "trainer/records/record_book.h"

#include <memory>
#include <stop_token>

namespace warpwright::trainer {

/// What a prompt says of a task.
struct TaskView {
  std::string id, family;
  nlohmann::json definition; ///< model::Task as JSON
  std::optional<Measured>
      original;      ///< verdict on the unchanged source: compile evidence, what bounds it
  std::string graph = {}; ///< of torch modules: text (generator/search/graph_env.h); else empty
};

class Environment {
public:
  virtual ~Environment() = default;
  virtual std::string_view name() const = 0; ///< "live", "recorded"

  /// Errors: no task can be inferred from the source, with what is missing; not recorded.
  virtual Result<TaskView> open(const TrainingTask &task) = 0;
  /// Errors: moves that are not legal; not recorded.
  virtual Result<StateRecord> state(const TrainingTask &task, const Moves &moves) = 0;
  /// Whether `measure` would answer: always live; recorded: whether there is a verdict.
  virtual bool can_measure(const TrainingTask &task, const Moves &moves) = 0;
  /// The verdict on a state. Errors: as state(); no runner answers; not recorded.
  virtual Result<Measured> measure(const TrainingTask &task, const Moves &moves,
                                   std::stop_token stop = {}) = 0;
  /// Again, in a fresh worker, for speedups too large to believe. Recorded: the same verdict.
  virtual Result<Measured> confirm(const TrainingTask &task, const Moves &moves,
                                   std::stop_token stop = {}) = 0;
  /// A plan that no moves describe (endpoint policy). Errors: recorded environments refuse.
  virtual Result<Measured> measure_plan(const TrainingTask &task, const model::Plan &plan,
                                        std::stop_token stop = {}) = 0;
  /// A plan of a task that nobody recorded, as of the adversary suite; the verdict is not recorded. Errors: recorded environments refuse.
  virtual Result<Measured> judge(const model::Task & /*task*/, const model::Plan & /*plan*/,
                                 std::chrono::milliseconds /*timeout*/) {
    return fail("nothing is measured here", "Use environment.mode = \"live\"");
  }
  /// JSON of a state's plan, for policies that read code. Errors: as state(); recorded environments hold none.
  virtual Result<nlohmann::json> plan(const TrainingTask & /*task*/, const Moves & /*moves*/) {
    return fail("plans are not recorded", "Use environment.mode = \"live\"");
  }
  /// Facts of the GPU that verdicts come from; nullopt where none is known yet.
  virtual std::optional<model::DeviceInfo> device() = 0;
};

} // namespace warpwright::trainer
