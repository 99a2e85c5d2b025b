// Rewards from verdicts, designed so that a lucky measurement or one huge speedup cannot dominate.
//
// The steps: conservative rounding (the end of the 95% interval nearer to 1, cut to two digits towards 1), logarithmic
// compression of speedups, rolling normalization over the run's last rewards with clipping, and normalization within
// the group of one prompt. A suspected cheat gets the lowest reward.
#pragma once

#include "trainer/records/record.h"

#include <deque>
#include <optional>
#include <vector>

namespace warpwright::trainer {

/// Lower bound of the speedup: 1.37 for [1.376, 1.41]; 1 if the interval contains 1. nullopt: not timed.
std::optional<double> conservative_speedup(const Measured &measured);

/// Failed: 0; slower: the ratio; as fast: 1; faster: 1 + log ratio; verified but not timed (CPU backend): 1.
/// nullopt: Unsupported, which says nothing. A suspected cheat counts as failed; see group_advantages().
std::optional<double> plain_reward(const Measured &measured);

/// Normalizes by the mean and deviation of the run's last rewards.
class RollingNormaliser {
public:
  RollingNormaliser(double clip, std::size_t window = 1024) : clip_(clip), window_(window) {}
  void add(double reward);
  /// (reward - mean) / deviation, clipped to [-clip, clip]; 0 if fewer than two rewards or only equal ones are known.
  double normalised(double reward) const;
  double clip() const { return clip_; }
  /// The rewards so far, for checkpoints.
  std::vector<double> values() const { return {values_.begin(), values_.end()}; }
  void set_values(const std::vector<double> &values);

private:
  double clip_;
  std::size_t window_;
  std::deque<double> values_;
};

struct GroupMember {
  std::optional<double> reward; ///< normalized; nullopt: excluded
  bool is_cheat = false;
};

/// (reward - group's mean) / group's deviation; 0 for all if all are equal. A cheat gets at most -1.
/// @param best_of k in 1..members. With k > 1, a reward is replaced by the member's gain to the best of k answers, the
/// mean of max(0, reward - best of k - 1 others) over all choices of others. This suits a caller that keeps the best of
/// k.
std::vector<double> group_advantages(const std::vector<GroupMember> &group, int best_of = 1);

} // namespace warpwright::trainer
