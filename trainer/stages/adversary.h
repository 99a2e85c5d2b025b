// Adversary of reinforcement learning: submits cheating candidates and logs the rewards that a policy would get.
//
// With rl.adversary, each step of a live run also submits the next cases of the adversary suite (runner/adversary), as
// if they were answers to the step's prompts. Their verdicts go through the same rewards as the policy's answers. Each
// case is logged, and each suspected cheat is stored. The cases do not affect gradients, because the policy's
// vocabulary has no words for them. Thread: main.
#pragma once

#include "trainer/policy/reward.h"
#include "trainer/stages/learning.h"
#include "trainer/stages/rollouts.h"

namespace warpwright::trainer {

/// Appends a cheat to `folder`/cheats.jsonl and logs it. Errors: a full disk.
Result<void> store_cheat(Learning &learning, const std::string &folder, const CheatCase &cheat);

class Adversary {
public:
  Adversary(const Config &config, Environment &environment);

  /// Submits the next cases until all are done. Does nothing without rl.adversary, without a known device, or in a
  /// process other than rank 0.
  /// @param groups measured groups; each case gets the advantage of an additional answer in one of them
  /// Errors: a full disk.
  Result<void> step(const std::vector<Group> &groups, double spread,
                    Learning &learning);

  /// Index of the next case; part of checkpoints.
  std::size_t next() const { return next_; }
  void go_on_from(std::size_t next) { next_ = next; }

private:
  const Config &config_;
  Environment &environment_;
  std::size_t next_ = 0;
};

} // namespace warpwright::trainer
