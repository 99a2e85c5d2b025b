// Trials of one task: propose, measure, remember. Collecting, learning and judging all count candidates with it.
//
// A candidate counts once: a proposal whose source was tried before is asked for again, up to a limit; then the trial is
// wasted, for every policy alike. Thread: one a session.
#pragma once

#include "trainer/policy/exemplars.h"

#include <set>

namespace warpwright::trainer {

struct Trial {
  Proposal proposal;
  Measured measured;
  bool wasted = false; ///< nothing new was proposed, or it cannot be used
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
  /// Largest score of what was tried, the unchanged source among it.
  double best() const { return best_; }
  bool exhausted() const { return exhausted_; }

  /// Errors: the environment or the policy cannot go on.
  Result<Trial> next(Policy &policy, Environment &environment, const ExemplarChoice &choice,
                     std::mt19937_64 &random, std::stop_token stop);
  /// Takes a verdict from elsewhere: of records, when a collection goes on.
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
