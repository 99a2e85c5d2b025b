// Rewards from verdicts, designed so that a lucky measurement or one huge speedup cannot dominate.
//
// The steps: conservative rounding (the end of the 95% interval nearer to 1, cut to two digits towards 1), logarithmic
// compression of speedups, and the distance from the other answers to the same prompt in units of the batch's spread.
// That unit has a floor, because answers that differ by measurement noise alone must teach nothing. A suspected cheat
// gets the lowest reward.
#pragma once

#include "trainer/records/record.h"

#include <optional>
#include <string_view>
#include <vector>

namespace warpwright::trainer {

/// Lower bound of the speedup: 1.37 for [1.376, 1.41]; 1 if the interval contains 1. nullopt: not timed.
std::optional<double> conservative_speedup(const Measured &measured);

/// Failed: 0; slower: the ratio; as fast: 1; faster: 1 + log ratio; verified but not timed (CPU backend): 1.
/// nullopt: Unsupported, which says nothing. A suspected cheat counts as failed; see group_advantages().
std::optional<double> plain_reward(const Measured &measured);

/// Payment of one answer in an environment of other trainers (trainer/serve).
enum class RewardRule {
  Speedup,  ///< the logarithm of the speedup's lower bound, in kLeastReward..kMostReward
  Gain,     ///< how much the answer improves the best of its task: a logarithm, 0 or more
  Verified, ///< 1 for a correct answer: for the CPU backend, which gives no times
};
inline constexpr double kLeastReward = -1, kMostReward = 3;
/// Under every rule: an answer that cannot be used, fails to compile, is wrong, hangs or crashes.
inline constexpr double kFailureReward = -1.5;
inline constexpr double kCheatReward = -2; ///< a suspected cheat
inline constexpr const char *kRewardVersion = "1"; ///< changes with any of these rules and numbers

/// nullopt: nothing was measured, so the answer is worth neither praise nor blame: Unsupported, or a correct answer
/// without times under a rule that needs them.
/// @param best_before largest speedup of the task so far, 1 or more
std::optional<double> environment_reward(const Measured &measured, RewardRule rule, double best_before);
/// "speedup", "gain", "verified"; nullopt: another word.
std::optional<RewardRule> reward_rule_named(std::string_view name);

struct GroupMember {
  std::optional<double> reward; ///< nullopt: excluded
  bool is_cheat = false;
};

/// The unit of advantages: the root mean square of the rewards' distances from their group's mean, over all groups of a
/// step, but at least kLeastSpread. @param best_of as in group_advantages()
double batch_spread(const std::vector<std::vector<GroupMember>> &groups, int best_of = 1);
/// A difference of rewards that measurement noise does not make: a quarter of the logarithm of the speedup.
inline constexpr double kLeastSpread = 0.25;

/// (reward - mean of the group's other rewards) / spread. A cheat gets at most -1. 0 for a group with one reward.
/// @param best_of k in 1..members. With k > 1, a reward is replaced by the member's gain to the best of k answers, the
/// mean of max(0, reward - best of k - 1 others) over all choices of others. This suits a caller that keeps the best of
/// k.
std::vector<double> group_advantages(const std::vector<GroupMember> &group, double spread,
                                     int best_of = 1);

} // namespace warpwright::trainer
