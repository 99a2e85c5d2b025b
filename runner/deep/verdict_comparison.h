// Two verdicts of one task and plan: is the candidate as fast as it was?
//
// Method. Both verdicts give a 95% interval; each is taken as log-normal, so that its standard error is
// (ln high - ln low) / (2 * 1.96). The two errors add in squares, and the ratio now / before gets the
// interval ratio * exp(+-1.96 * error). FASTER: the interval lies wholly above 1 + kMargin; SLOWER: wholly
// below 1 / (1 + kMargin); SAME otherwise, and then either equivalence is shown (the interval lies within the
// margin) or it is only not excluded (the interval is too wide). The margin covers what differs between
// two processes and the intervals do not hold. Thread: values, any.
#pragma once

#include "support/model/verdict.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner::deep {

inline constexpr double kMargin = 0.01;

struct Interval {
  double value = 0, low = 0, high = 0; ///< 95%
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
/// @return nullopt when an interval is no interval of positive numbers
std::optional<Comparison> compare(const Interval &before, const Interval &now, bool less_is_faster);

struct VerdictComparison {
  bool same_outcome = false;
  std::optional<Comparison> speedup, candidate_time;
  std::string untimed;                  ///< why there is nothing to compare; empty otherwise
  std::vector<std::string> differences; ///< of GPU, driver and runner: "driver: 580.65, now 580.82"

  /// Of the speedup; of the candidate's time where there is no speedup.
  std::optional<Change> change() const;
};

VerdictComparison compare(const model::Verdict &before, const model::Verdict &now);

} // namespace warpwright::runner::deep
