#include "runner/deep/verdict_comparison.h"

#include <cmath>

namespace warpwright::runner::deep {
namespace {

constexpr double kNormal95 = 1.959963984540054; ///< 97.5% quantile of the standard normal

std::optional<double> log_error(const Interval &interval) {
  if (!(interval.low > 0) || !(interval.high >= interval.low) || !(interval.value > 0) ||
      !std::isfinite(interval.high))
    return std::nullopt;
  return (std::log(interval.high) - std::log(interval.low)) / (2 * kNormal95);
}

std::optional<Interval> interval_of(const std::optional<model::Speedup> &speedup) {
  if (!speedup)
    return std::nullopt;
  return Interval{speedup->ratio, speedup->low, speedup->high};
}
std::optional<Interval> interval_of(const std::optional<model::Time> &time) {
  if (!time)
    return std::nullopt;
  return Interval{time->median_ns, time->low_ns, time->high_ns};
}

std::string why_untimed(const model::Verdict &before, const model::Verdict &now) {
  for (const auto &[verdict, which] : {std::pair{&now, "now"}, std::pair{&before, "before"}}) {
    if (verdict->candidate_time)
      continue;
    const std::string when = std::string(which) == "now" ? "this run" : "the verdict";
    if (verdict->device.kind == "cpu")
      return when + " is of the CPU backend, which has no times: only the outcomes are compared";
    return when + " has no times: only the outcomes are compared";
  }
  return "";
}

} // namespace

std::string name(Change change) {
  return change == Change::Same ? "SAME" : change == Change::Faster ? "FASTER" : "SLOWER";
}

std::optional<Comparison> compare(const Interval &before, const Interval &now,
                                  bool less_is_faster) {
  const auto before_error = log_error(before), now_error = log_error(now);
  if (!before_error || !now_error)
    return std::nullopt;
  Comparison comparison{.before = before, .now = now};
  const double ratio = less_is_faster ? before.value / now.value : now.value / before.value;
  const double spread = std::exp(kNormal95 * std::hypot(*before_error, *now_error));
  comparison.ratio = {ratio, ratio / spread, ratio * spread};
  const double upper = 1 + kMargin, lower = 1 / upper;
  if (comparison.ratio.low > upper)
    comparison.change = Change::Faster;
  else if (comparison.ratio.high < lower)
    comparison.change = Change::Slower;
  comparison.equivalent = comparison.ratio.low >= lower && comparison.ratio.high <= upper;
  return comparison;
}

std::optional<Change> VerdictComparison::change() const {
  if (speedup)
    return speedup->change;
  return candidate_time ? std::optional(candidate_time->change) : std::nullopt;
}

VerdictComparison compare(const model::Verdict &before, const model::Verdict &now) {
  VerdictComparison comparison;
  comparison.same_outcome = before.outcome == now.outcome;
  const auto old_speedup = interval_of(before.speedup), new_speedup = interval_of(now.speedup);
  if (old_speedup && new_speedup)
    comparison.speedup = compare(*old_speedup, *new_speedup, false);
  const auto old_time = interval_of(before.candidate_time),
             new_time = interval_of(now.candidate_time);
  if (old_time && new_time)
    comparison.candidate_time = compare(*old_time, *new_time, true);
  if (!comparison.speedup && !comparison.candidate_time)
    comparison.untimed = why_untimed(before, now);
  const auto differ = [&](const char *what, const std::string &was, const std::string &is) {
    if (was != is)
      comparison.differences.push_back(std::string(what) + ": " + (was.empty() ? "unknown" : was) +
                                       ", now " + (is.empty() ? "unknown" : is));
  };
  differ("device", before.device.name, now.device.name);
  differ("GPU", before.device.identifier, now.device.identifier);
  differ("driver", before.device.driver, now.device.driver);
  differ("host", before.device.host, now.device.host);
  differ("measured sizes", before.measured_sizes, now.measured_sizes);
  differ("runner", before.record ? before.record->runner_version : "",
         now.record ? now.record->runner_version : "");
  return comparison;
}

} // namespace warpwright::runner::deep
