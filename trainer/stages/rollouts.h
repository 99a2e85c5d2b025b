// Answers of the transformer to prompts of many tasks, and their verdicts: the acting half of a learning step. Thread: main; measurements
// run several at once.
#pragma once

#include "trainer/network/checkpoint.h"
#include "trainer/policy/builtin.h"
#include "trainer/stages/versions.h"

#include <map>

namespace warpwright::trainer {

/// Versions of each task that were tried in this run: where exemplars come from. Part of checkpoints, as moves.
class TriedVersions {
public:
  explicit TriedVersions(Environment &environment) : environment_(environment) {}
  /// Its unchanged source is always among them. Errors: as Environment::measure().
  Result<const std::vector<Exemplar> *> of(const TrainingTask &task);
  /// @return whether it is new
  bool add(const TrainingTask &task, const Moves &moves, const Measured &measured);
  double best(const TrainingTask &task) const;

  nlohmann::json to_json() const;
  /// Measures again what the environment does not remember. Errors: as Environment::measure().
  Result<void> take(const nlohmann::json &json, const std::vector<TaskVersions> &tasks);

private:
  Environment &environment_;
  std::map<std::string, std::vector<Exemplar>> tried_;
};

struct Candidate {
  Rollout rollout;
  std::optional<Measured> measured; ///< absent where nothing could be measured
};

/// Candidates that answer one prompt.
struct Group {
  const TaskVersions *task = nullptr;
  std::uint64_t seed = 0;    ///< of its answers
  bool hides_scores = false; ///< in its prompt
  std::vector<Exemplar> exemplars;
  std::vector<Candidate> candidates;
};

/// What a session that began a while ago would have tried: the unchanged source and some of the others, often few.
std::vector<Exemplar> some_of(const std::vector<Exemplar> &tried, std::mt19937_64 &random);

/// Reads the prompt of each group and answers it `answers` times, up to `at_once` groups at a time: who answers waits for the environment.
/// Errors: as Environment::state().
Result<void> answer_groups(std::vector<Group> &groups, Model &model, Environment &environment,
                           const SamplingOptions &sampling, int answers, int at_once);

/// Measures all candidates of all groups, up to `in_flight` at once, equal ones once; large speedups again in a fresh worker.
/// @param confirm_above speedups over this; 0: none
/// Errors: the environment cannot go on.
Result<void> measure_groups(std::vector<Group> &groups, Environment &environment, int in_flight,
                            double confirm_above, std::stop_token stop);

} // namespace warpwright::trainer
