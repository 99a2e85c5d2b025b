// Rollouts of a learning step: the transformer's answers to prompts of many tasks, and their verdicts.
//
// Thread: main; several measurements run at once.
#pragma once

#include "trainer/network/checkpoint.h"
#include "trainer/policy/builtin.h"
#include "trainer/policy/reward.h"
#include "trainer/stages/versions.h"

#include <map>

namespace warpwright::trainer {

/// Versions of each task that this run tried; exemplars come from them. `rl` stores their moves in checkpoints.
class TriedVersions {
public:
  explicit TriedVersions(Environment &environment) : environment_(environment) {}
  /// The task's tried versions, including its unchanged source. Errors: as Environment::measure().
  Result<const std::vector<Exemplar> *> of(const TrainingTask &task);
  /// @return true if the version is new
  bool add(const TrainingTask &task, const Moves &moves, const Measured &measured);
  double best(const TrainingTask &task) const;

  nlohmann::json to_json() const;
  /// Restores versions from to_json(); asks the environment for their verdicts. Errors: as Environment::measure().
  Result<void> take(const nlohmann::json &json, const std::vector<TaskVersions> &tasks);

private:
  Environment &environment_;
  std::map<std::string, std::vector<Exemplar>> tried_;
};

struct Candidate {
  Rollout rollout;
  std::optional<Measured> measured; ///< absent if not measured
};

/// Candidates that answer one prompt.
struct Group {
  const TaskVersions *task = nullptr;
  std::uint64_t seed = 0;    ///< of the answers
  bool hides_scores = false; ///< in the prompt
  std::vector<Exemplar> exemplars;
  std::vector<Candidate> candidates;
};

/// A verdict, and the measured answers of a group, as advantages need them (policy/reward.h). An answer without a verdict
/// is excluded.
GroupMember member_of(const Measured &measured);
std::vector<GroupMember> members_of(const Group &group);

/// Random versions that a session in progress could have tried: the unchanged source and some others, often few.
std::vector<Exemplar> some_of(const std::vector<Exemplar> &tried, std::mt19937_64 &random);

/// Reads the prompt of each group and answers it `answers` times. Up to `at_once` groups run at a time, because answers
/// wait for the environment. A lost `warpwright env` leaves a group with fewer answers. Errors: as
/// Environment::state().
Result<void> answer_groups(std::vector<Group> &groups, Model &model, Environment &environment,
                           const SamplingOptions &sampling, int answers, int at_once);

/// Measures all candidates of all groups, up to `in_flight` at once. Equal candidates are measured once, and large
/// speedups again in a fresh worker.
/// @param confirm_above larger speedups are measured again; 0: none
/// Errors: the environment cannot continue.
Result<void> measure_groups(std::vector<Group> &groups, Environment &environment, int in_flight,
                            double confirm_above, std::stop_token stop);

} // namespace warpwright::trainer
