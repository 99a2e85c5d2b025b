// From verdicts to rewards that a lucky measurement or a single huge speedup cannot dominate.
//
// In this order: conservative rounding (the end of the 95% interval that lies nearer to 1, cut to two digits towards 1), compression of
// speedups by their logarithm, rolling normalisation over the last rewards of the run with clipping, and normalisation within the
// group of one prompt. A suspected cheat gets the worst there is. Thread: one.
#pragma once

#include "trainer/records/record.h"

#include <deque>
#include <optional>
#include <vector>

namespace warpwright::trainer {

/// The speedup that can be relied on: 1.37 for [1.376, 1.41]; 1 where the interval holds 1. nullopt: not timed.
std::optional<double> conservative_speedup(const Measured &measured);

/// Failed: 0; slower: the ratio; as fast: 1; faster: 1 + log ratio; verified but not timed (CPU backend): 1.
/// nullopt: Unsupported, which says nothing. A suspected cheat: as failed, see group_advantages().
std::optional<double> plain_reward(const Measured &measured);

/// Mean and deviation over the last rewards of the run.
class RollingNormaliser {
public:
  RollingNormaliser(double clip, std::size_t window = 1024) : clip_(clip), window_(window) {}
  void add(double reward);
  /// (reward - mean) / deviation within [-clip, clip]; 0 while fewer than two rewards, or only equal ones, are known.
  double normalised(double reward) const;
  double clip() const { return clip_; }
  /// For checkpoints.
  std::vector<double> values() const { return {values_.begin(), values_.end()}; }
  void set_values(const std::vector<double> &values);

private:
  double clip_;
  std::size_t window_;
  std::deque<double> values_;
};

struct GroupMember {
  std::optional<double> reward; ///< normalised; nullopt takes no part
  bool is_cheat = false;
};

/// (reward - mean of the group) / deviation of the group, 0 for all where all are equal. A cheat never gets more than -1.
/// @param best_of k > 1: in place of a reward stands what its member adds to the best of k answers, the mean of max(0, reward - best of k - 1
/// others) over all choices of others. For who tries k proposals and keeps one: then answers need not be alike. 1..members
std::vector<double> group_advantages(const std::vector<GroupMember> &group, int best_of = 1);

} // namespace warpwright::trainer
