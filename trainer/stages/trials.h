// Session of trials of one task: propose, measure, remember. `collect` and `eval` count candidates with it.
//
// A candidate counts once. If a proposal's source was tried before, the policy is asked again, up to a limit; after
// that the trial is wasted. This holds for every policy. Thread: one per session.
#pragma once

#include "trainer/policy/exemplars.h"

#include <set>

namespace warpwright::trainer {

struct Trial {
  Proposal proposal;
  Measured measured;
  bool wasted = false; ///< no new usable candidate was proposed
};

class TrialSession {
public:
  /// Opens the task and measures its unchanged source, which counts as tried but not as a trial.
  /// Errors: as Environment::open() and measure().
  static Result<TrialSession> open(const TrainingTask &task, Environment &environment,
                                   std::stop_token stop);

  const TrainingTask &task() const { return *task_; }
  const TaskView &view() const { return view_; }
  const std::vector<Exemplar> &tried() const { return tried_; }
  /// Largest score of the tried versions, the unchanged source included.
  double best() const { return best_; }
  bool exhausted() const { return exhausted_; }

  /// Makes one trial. Errors: the environment or the policy cannot continue.
  Result<Trial> next(Policy &policy, Environment &environment, const ExemplarChoice &choice,
                     std::mt19937_64 &random, std::stop_token stop);
  /// Adds a known verdict, such as one from the records of a resumed collection.
  void remember(const Moves &moves, const std::string &text_hash, const Measured &measured);

private:
  const TrainingTask *task_ = nullptr;
  TaskView view_;
  std::vector<Exemplar> tried_;
  std::set<std::string> texts_; ///< hashes of the sources tried
  double best_ = 0;
  bool exhausted_ = false;
};

} // namespace warpwright::trainer
