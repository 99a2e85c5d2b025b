// What proposes: the seam between search strategies, the builtin transformer and language-model endpoints.
//
// A policy sees a task, the device, and what was tried of the task with scores; it answers with moves or with a whole
// plan, and with an analysis that can be scored against what was measured. It never measures anything itself.
// Thread: one call at a time.
#pragma once

#include "trainer/environment/environment.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::trainer {

/// One version that was tried, as prompts show it.
struct Exemplar {
  Moves moves;
  Measured measured;
  std::string plan; ///< JSON of the plan where no moves describe it; else empty
};

/// What the policy says before it acts; each part may be missing.
struct Analysis {
  std::optional<int> faster_exemplar;         ///< 0 or 1: index into Context::exemplars
  std::optional<std::string> explaining_move; ///< its name: "vectorize"; "none"
  std::optional<model::Bound> bound;          ///< of the original kernel
  std::string text;                           ///< for people: what hover and code actions show
  std::string design;                         ///< endpoint: its "## Algorithm Design"
};

/// All that a policy is told.
struct Context {
  const TrainingTask &task;
  const TaskView &view;
  std::optional<model::DeviceInfo> device;
  /// The contrastive pair, from distinct score buckets, in random order; or fewer.
  std::vector<Exemplar> exemplars;
  /// All tried of this task in this session, in order. Proposals of the same moves are wasted.
  const std::vector<Exemplar> &tried;
};

struct Proposal {
  Moves moves;                     ///< legal one after another
  std::optional<model::Plan> plan; ///< instead of moves
  Analysis analysis;
  std::string
      refused; ///< why the answer cannot be used (malformed, host code); the next prompt carries it
  bool exhausted = false; ///< nothing is left that was not tried
  double seconds = 0;     ///< what it took to propose
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0; ///< "random", "evolve", "builtin", "endpoint"
  /// Errors: the policy cannot go on at all (endpoint gone, budget spent); refusals are proposals.
  virtual Result<Proposal> propose(const Context &context, Environment &environment) = 0;
  /// What it met and spent so far, for logs (the event "policy" in stages/run_log.h); null: nothing worth it.
  virtual nlohmann::json account() const { return nullptr; }
};

/// Uniform: at each state one of the legal moves or stopping, within `longest` moves.
std::unique_ptr<Policy> make_random_policy(std::uint64_t seed, int longest = 6);
/// Mutates what was fastest so far: adds, drops or replaces one move, or crosses two parents.
std::unique_ptr<Policy> make_evolution_policy(std::uint64_t seed, int longest = 6);
/// Every state in order of its depth, each move list once: for small spaces.
std::unique_ptr<Policy> make_dense_policy(int deepest = 2);

/// A number to compare verdicts by: the measured ratio; 0 for failures; where nothing is timed (CPU backend) 1 for
/// verified. nullopt for Unsupported, which says nothing about the candidate.
std::optional<double> score_of(const Measured &measured);

} // namespace warpwright::trainer
