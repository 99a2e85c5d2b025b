// Interface of policies: search strategies, the builtin transformer and language-model endpoints.
//
// A policy sees a task, the device and the tried versions with their scores. It answers with moves or a whole plan, and
// with an analysis that is scored against measurements. It never measures. Thread: one call at a time.
#pragma once

#include "trainer/environment/environment.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::trainer {

/// One tried version, as prompts show it.
struct Exemplar {
  Moves moves;
  Measured measured;
  std::string plan; ///< JSON of an answer that is more than moves (answer_text()); else empty
  /// The whole verdict, if the caller has it; outlives the exemplar.
  const model::Verdict *verdict = nullptr;
  std::string refused = {}; ///< why the caller could not use the answer: nothing was measured
  bool pending = false;     ///< it is still being measured
};

/// The policy's analysis before its proposal; each part may be missing.
struct Analysis {
  std::optional<int> faster_exemplar;         ///< 0 or 1: index into Context::exemplars
  std::optional<std::string> explaining_move; ///< its name: "vectorize"; "none"
  std::optional<model::Bound> bound;          ///< of the original kernel
  std::string text;                           ///< for people: hover and code actions
  std::string design;                         ///< endpoint: its "## Algorithm Design"
};

/// Input of a policy.
struct Context {
  const TrainingTask &task;
  const TaskView &view;
  std::optional<model::DeviceInfo> device;
  /// The contrastive pair from distinct score buckets, in random order; sometimes fewer than two.
  std::vector<Exemplar> exemplars;
  /// All versions of this task tried in this session, in order. Repeating their moves is wasted effort.
  const std::vector<Exemplar> &tried;
  std::stop_token stop = {};                          ///< ends a request that takes long
  std::function<void(const std::string &)> told = {}; ///< progress of such a request; may be empty
};

struct Proposal {
  Moves moves;                     ///< legal one after another
  std::optional<model::Plan> plan; ///< instead of moves
  /// Kernels for regions of the plan that the moves lead to, by the region's name, each a plan over the region's
  /// buffers "in0", "out0" and so on (generator/planning/written_region.h). All have one source.
  std::map<std::string, model::Plan> regions;
  std::string
      base; ///< PlanView::id of the plan that moves and regions change; empty: the task's own start
  Analysis analysis;
  std::string
      refused; ///< why the answer is unusable (malformed, host code); the next prompt repeats it
  bool exhausted = false; ///< no untried version is left
  bool waits = false;     ///< versions that are still being measured must be known first
  double seconds = 0;     ///< duration of the proposal
};

/// JSON of what is proposed: the plan, or the moves and the regions with their source.
std::string answer_text(const Proposal &proposal);

class Policy {
public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0; ///< "random", "evolve", "builtin", "endpoint"
  /// Errors: the policy cannot continue (endpoint gone, budget spent); refusals are proposals.
  virtual Result<Proposal> propose(const Context &context, Environment &environment) = 0;
  /// Counters and costs so far for logs (the event "policy" in stages/run_log.h); null: nothing to log.
  virtual nlohmann::json account() const { return nullptr; }
};

/// Random policy: at each state it draws a legal move or stops, within `longest` moves.
std::unique_ptr<Policy> make_random_policy(std::uint64_t seed, int longest = 6);
/// Evolution policy: mutates the fastest versions by adding, dropping or replacing a move, or crosses two parents.
std::unique_ptr<Policy> make_evolution_policy(std::uint64_t seed, int longest = 6);
/// Dense policy: proposes every state once, in order of depth; for small spaces.
std::unique_ptr<Policy> make_dense_policy(int deepest = 2);

/// Score of a verdict: the measured ratio; 0 for failures; 1 for verified but not timed (CPU backend).
/// nullopt: Unsupported, which says nothing about the candidate.
std::optional<double> score_of(const Measured &measured);

} // namespace warpwright::trainer
