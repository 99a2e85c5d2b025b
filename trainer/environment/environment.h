// Environment of a policy: states of tasks, their legal moves, and verdicts; live or recorded behind one interface.
//
// The live one asks `warpwright env` (a child process, since Clang and LibTorch never share one) for states and a
// runner for verdicts, and writes both into a record book. The recorded one replays a book: legal moves are those that
// lead to recorded states, so that training stays within what was measured. A miss is measured by a live environment
// behind it, or refused if there is none.
// Thread: any; calls may block for a whole measurement. Several threads may call `measure` at once.
#pragma once

#include "trainer/tasks/training_task.h"
#include "trainer/records/record_book.h"

#include <memory>
#include <stop_token>

namespace warpwright::trainer {

/// A plan of a torch module that an answer may change by moves, or by kernels for its regions.
struct PlanView {
  std::string id;   ///< Proposal::base of answers about it
  std::string text; ///< its regions (generator/search/plan_text.h)
  Moves legal;      ///< first moves from here
};

/// A task as prompts describe it.
struct TaskView {
  std::string id, family;
  nlohmann::json definition; ///< model::Task as JSON
  std::optional<Measured>
      original;      ///< verdict on the unchanged source: compile evidence, what bounds it
  std::string graph = {}; ///< op graph of a torch module (generator/search/graph_env.h)
  std::optional<PlanView> plan =
      std::nullopt; ///< of a torch module: a plan that answers may change
};

/// Short hash of a state's text.
std::string text_hash(const std::string &text);

class Environment {
public:
  virtual ~Environment() = default;
  virtual std::string_view name() const = 0; ///< "live", "recorded"

  /// Errors: no task can be inferred from the source (with what is missing); not recorded.
  virtual Result<TaskView> open(const TrainingTask &task) = 0;
  /// Errors: illegal moves; not recorded.
  virtual Result<StateRecord> state(const TrainingTask &task, const Moves &moves) = 0;
  /// True if `measure` can answer: always when live; when recorded, if there is a verdict.
  virtual bool can_measure(const TrainingTask &task, const Moves &moves) = 0;
  /// The verdict on a state. Errors: as state(); no runner answers; not recorded.
  virtual Result<Measured> measure(const TrainingTask &task, const Moves &moves,
                                   std::stop_token stop = {}) = 0;
  /// Measures again in a fresh worker, for implausibly large speedups. Recorded: the same verdict.
  virtual Result<Measured> confirm(const TrainingTask &task, const Moves &moves,
                                   std::stop_token stop = {}) = 0;
  /// Verdict on a plan that no moves describe (endpoint policy). Errors: recorded environments refuse.
  virtual Result<Measured> measure_plan(const TrainingTask &task, const model::Plan &plan,
                                        std::stop_token stop = {}) = 0;
  /// The whole verdict on such a plan. @param host_code allows a plan that is another system's module
  /// Errors: as measure_plan().
  virtual Result<model::Verdict> verify(const TrainingTask & /*task*/, const model::Plan & /*plan*/,
                                        bool /*host_code*/, std::stop_token /*stop*/) {
    return fail("this environment does not verify plans", "Use environment.mode = \"live\"");
  }
  /// Verdict on a plan of an unrecorded task, such as the adversary suite's; not recorded. Errors: recorded
  /// environments refuse.
  virtual Result<Measured> judge(const model::Task & /*task*/, const model::Plan & /*plan*/,
                                 std::chrono::milliseconds /*timeout*/) {
    return fail("this environment does not measure plans", "Use environment.mode = \"live\"");
  }
  /// A state's plan as JSON, for policies that read code. Errors: as state(); recorded environments have no plans.
  virtual Result<nlohmann::json> plan(const TrainingTask & /*task*/, const Moves & /*moves*/) {
    return fail("plans are not recorded", "Use environment.mode = \"live\"");
  }
  /// The GPU that verdicts come from; nullopt: not known yet.
  virtual std::optional<model::DeviceInfo> device() = 0;
};

} // namespace warpwright::trainer
