// Candidates that cheat, as actions during reinforcement learning: what would a policy get for them?
//
// With rl.adversary each step of a live run also submits the next cases of the adversary suite (runner/adversary) as answers to one of its
// prompts. Their verdicts go through the same rewards as the policy's own answers, beside which they stand; each is logged, and every cheat
// that is suspected is kept as a case. The policy's gradients do not see them: their actions are no words of its vocabulary. Thread: main.
#pragma once

#include "trainer/policy/reward.h"
#include "trainer/stages/learning.h"
#include "trainer/stages/rollouts.h"

namespace warpwright::trainer {

/// Appends to `folder`/cheats.jsonl, and says so in the log. Errors: a full disk.
Result<void> store_cheat(Learning &learning, const std::string &folder, const CheatCase &cheat);

class Adversary {
public:
  Adversary(const Config &config, Environment &environment);

  /// The next cases, until all had their turn; nothing where they were not asked for, or nothing is measured live.
  /// @param groups as measured, with advantages not yet taken: an attempt stands in one of them
  /// Errors: a full disk.
  Result<void> step(const std::vector<Group> &groups, const RollingNormaliser &rewards,
                    Learning &learning);

  /// Cases that had their turn: part of checkpoints.
  std::size_t next() const { return next_; }
  void go_on_from(std::size_t next) { next_ = next; }

private:
  const Config &config_;
  Environment &environment_;
  std::size_t next_ = 0;
};

} // namespace warpwright::trainer
