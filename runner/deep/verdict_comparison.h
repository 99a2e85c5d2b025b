// Comparison of two verdicts of one task and plan: whether the candidate's speed has changed.
//
// Method. Both verdicts give a 95% interval. Each is taken as log-normal, so that its standard
// error is (ln high - ln low) / (2 * 1.96). The errors add in quadrature, and the ratio of the
// speeds, now / before, gets the interval ratio * exp(+-1.96 * error). FASTER: the interval lies
// above 1 + kMargin; SLOWER: below 1 / (1 + kMargin); SAME otherwise. With SAME, equivalence is
// either shown (the interval lies within the margin) or not excluded (the interval is too wide).
// The margin covers differences between two processes that the intervals do not contain. Thread:
// values, any.
#pragma once

#include "support/model/verdict.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner::deep {

inline constexpr double kMargin = 0.01;

struct Interval {
  double value = 0, low = 0, high = 0; ///< 95% interval
};

enum class Change { Same, Faster, Slower };
/// "SAME", "FASTER", "SLOWER"
std::string name(Change change);

struct Comparison {
  Interval before, now;
  Interval ratio; ///< above 1: faster now
  Change change = Change::Same;
  bool equivalent = false; ///< the whole interval lies within the margin
};

/// @param less_is_faster for times; false for speedups
/// @return nullopt if an interval is invalid or has values that are not positive
std::optional<Comparison> compare(const Interval &before, const Interval &now, bool less_is_faster);

struct VerdictComparison {
  bool same_outcome = false;
  std::optional<Comparison> speedup, candidate_time;
  std::string untimed; ///< why no times can be compared; empty otherwise
  /// of device, driver, host, sizes and runner: "driver: 580.65, now 580.82"
  std::vector<std::string> differences;

  /// Change of the speedup; without speedups, of the candidate's time.
  std::optional<Change> change() const;
};

VerdictComparison compare(const model::Verdict &before, const model::Verdict &now);

} // namespace warpwright::runner::deep
