#include "runner/service/second_measurement.h"

#include <algorithm>
#include <cmath>

namespace warpwright::runner {
namespace {

/// Relative difference up to which the speedups of two measurements agree.
constexpr double kAgreement = 0.2;

/// Adds baselines that the second measurement did not ask for.
void add_missing_baselines(const std::vector<model::Baseline> &known, model::Verdict &verdict) {
  for (const model::Baseline &baseline : known)
    if (std::ranges::find(verdict.baselines, baseline.name, &model::Baseline::name) ==
        verdict.baselines.end())
      verdict.baselines.push_back(baseline);
}

} // namespace

model::Verdict compared(const model::Verdict &first, model::Verdict second) {
  const double before = first.speedup->ratio, now = second.speedup ? second.speedup->ratio : 0;
  const bool agrees = now > 0 && std::abs(now - before) <= kAgreement * std::min(now, before);
  const std::string detail =
      std::to_string(before) + ", then " + (now > 0 ? std::to_string(now) : second.message);
  if (second.outcome == model::Outcome::Verified && now > before)
    second = first;
  else if (second.outcome == model::Outcome::Verified)
    add_missing_baselines(first.baselines, second);
  second.checks.push_back({"measured again in a fresh worker", agrees, detail});
  return second;
}

} // namespace warpwright::runner
