#include "trainer/stages/step_metrics.h"

#include "trainer/policy/reward.h"
#include "trainer/environment/walk.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {

void StepMetrics::add_candidate(const Moves &moves, const std::optional<Measured> &measured,
                                std::optional<double> reward) {
  ++candidates_;
  distinct_.insert(moves);
  if (reward)
    rewards_.push_back(*reward);
  if (!measured || measured->outcome != model::Outcome::Verified)
    return;
  ++verified_;
  const auto speedup = conservative_speedup(*measured);
  if (!speedup)
    return;
  log_speedups_.push_back(std::log(*speedup));
  if (*speedup > 1)
    for (const std::string &move : moves)
      ++techniques_[move_name(move)];
}

double StepMetrics::mean_reward() const {
  double sum = 0;
  for (const double reward : rewards_)
    sum += reward;
  return sum / std::max<double>(1, double(rewards_.size()));
}

nlohmann::json StepMetrics::to_json() const {
  nlohmann::json fields{{"variant", variant_}, {"techniques", techniques_}};
  const double count = std::max(1, candidates_);
  double squares = 0, logs = 0;
  for (const double reward : rewards_)
    squares += (reward - mean_reward()) * (reward - mean_reward());
  fields["reward_mean"] = mean_reward();
  fields["reward_std"] = std::sqrt(squares / std::max<double>(1, double(rewards_.size())));
  fields["success"] = verified_ / count;
  fields["distinct_share"] = double(distinct_.size()) / count;
  for (const double value : log_speedups_)
    logs += value;
  if (!log_speedups_.empty())
    fields["speedup_geomean"] = std::exp(logs / double(log_speedups_.size()));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  fields["candidates_per_s"] = count / std::max(seconds, 1e-9);
  fields["verified_per_s"] = verified_ / std::max(seconds, 1e-9);
  fields["seconds"] = seconds;
  fields["answering_seconds"] = std::chrono::duration<double>(answered_ - started_).count();
  fields["measuring_seconds"] = std::chrono::duration<double>(measured_ - answered_).count();
  if (reports_.empty())
    return fields;
  const auto mean = [&](double StepReport::*member) {
    double sum = 0;
    for (const StepReport &report : reports_)
      sum += report.*member;
    return sum / double(reports_.size());
  };
  fields["loss"] = mean(&StepReport::loss);
  fields["kl"] = mean(&StepReport::kl);
  fields["entropy"] = mean(&StepReport::entropy);
  fields["clip_share"] = mean(&StepReport::clipped);
  fields["accuracy_analysis"] = mean(&StepReport::imitation_accuracy);
  fields["gradient_norm"] = mean(&StepReport::gradient_norm);
  return fields;
}

std::string StepMetrics::note() const { return "reward " + std::to_string(mean_reward()); }

} // namespace warpwright::trainer
