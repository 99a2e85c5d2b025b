#include "trainer/policy/reward.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {

std::optional<double> conservative_speedup(const Measured &measured) {
  if (!measured.speedup)
    return std::nullopt;
  const MeasuredRatio &speedup = *measured.speedup;
  constexpr double kTiny = 1e-9; // 1.37 * 100 is 137.00000000000003
  if (speedup.low > 1)
    return std::floor(speedup.low * 100 + kTiny) / 100;
  if (speedup.high < 1)
    return std::ceil(speedup.high * 100 - kTiny) / 100;
  return 1;
}

std::optional<double> plain_reward(const Measured &measured) {
  if (measured.outcome == model::Outcome::Unsupported)
    return std::nullopt;
  if (measured.outcome != model::Outcome::Verified)
    return 0;
  const double speedup = conservative_speedup(measured).value_or(1);
  return speedup > 1 ? 1 + std::log(speedup) : speedup;
}

std::optional<double> environment_reward(const Measured &measured, RewardRule rule,
                                         double best_before) {
  if (measured.outcome == model::Outcome::Unsupported)
    return std::nullopt;
  if (measured.outcome == model::Outcome::SuspectedCheat)
    return kCheatReward;
  if (measured.outcome != model::Outcome::Verified)
    return kFailureReward;
  if (rule == RewardRule::Verified)
    return 1;
  if (!measured.speedup || measured.speedup->low <= 0)
    return std::nullopt;
  const double low = measured.speedup->low;
  if (rule == RewardRule::Gain)
    return std::clamp(std::log(low / best_before), 0.0, kMostReward);
  return std::clamp(std::log(low), kLeastReward, kMostReward);
}

std::optional<RewardRule> reward_rule_named(std::string_view name) {
  return name == "speedup"    ? std::optional(RewardRule::Speedup)
         : name == "gain"     ? std::optional(RewardRule::Gain)
         : name == "verified" ? std::optional(RewardRule::Verified)
                              : std::nullopt;
}

namespace {

/// Binomial coefficient C(n, k).
double choices(int n, int k) {
  double product = k <= n ? 1 : 0;
  for (int i = 0; i < k && k <= n; ++i)
    product *= double(n - i) / double(i + 1);
  return product;
}

/// Mean gain of `own` over the best of `count` of the others.
double gain_over(double own, std::vector<double> others, int count) {
  std::ranges::sort(others);
  double gain = 0;
  for (int j = 0; j < int(others.size());
       ++j) // number j is the best: the rest comes from before it
    gain += choices(j, count - 1) * std::max(0.0, own - others[std::size_t(j)]);
  return gain / choices(int(others.size()), count);
}

/// Sum and count of a group's rewards.
struct Total {
  double sum = 0, count = 0;
};

Total total_of(const std::vector<GroupMember> &group) {
  Total total;
  for (const GroupMember &member : group)
    if (member.reward) {
      total.sum += *member.reward;
      ++total.count;
    }
  return total;
}

std::vector<GroupMember> as_gains(const std::vector<GroupMember> &group, int best_of) {
  std::vector<GroupMember> gains = group;
  if (best_of <= 1)
    return gains;
  for (std::size_t i = 0; i < group.size(); ++i) {
    std::vector<double> others;
    for (std::size_t j = 0; j < group.size(); ++j)
      if (j != i && group[j].reward)
        others.push_back(*group[j].reward);
    if (group[i].reward && int(others.size()) >= best_of - 1)
      gains[i].reward = gain_over(*group[i].reward, others, best_of - 1);
  }
  return gains;
}

} // namespace

double batch_spread(const std::vector<std::vector<GroupMember>> &groups, int best_of) {
  double squares = 0, count = 0;
  for (const std::vector<GroupMember> &members : groups) {
    const std::vector<GroupMember> group = as_gains(members, best_of);
    const Total total = total_of(group);
    for (const GroupMember &member : group)
      if (member.reward) {
        squares += std::pow(*member.reward - total.sum / total.count, 2);
        ++count;
      }
  }
  return std::max(kLeastSpread, count > 0 ? std::sqrt(squares / count) : 0);
}

std::vector<double> group_advantages(const std::vector<GroupMember> &members, double spread,
                                     int best_of) {
  const std::vector<GroupMember> group = as_gains(members, best_of);
  const Total total = total_of(group);
  std::vector<double> advantages;
  for (const GroupMember &member : group) {
    double advantage = 0;
    if (member.reward && total.count > 1)
      advantage = (*member.reward - (total.sum - *member.reward) / (total.count - 1)) / spread;
    if (member.is_cheat)
      advantage = std::min(advantage, -1.0);
    advantages.push_back(advantage);
  }
  return advantages;
}

} // namespace warpwright::trainer
