// Geometric means over tasks, with confidence intervals. Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct Interval {
  double value = 0, low = 0, high = 0; ///< 95%
};

/// exp of the mean of `logs`, with a bootstrap interval over them (percentiles of 2000 resamples). A single value has
/// an interval of width 0; without values, all fields are 0.
Interval geometric_mean(const std::vector<double> &logs, std::uint64_t seed);

/// Geometric mean of exp(a - b) over tasks. The bootstrap draws tasks, so the difficulty of a task cancels.
/// @param a, b log scores by task, of equal length
Interval paired_ratio(const std::vector<double> &a, const std::vector<double> &b,
                      std::uint64_t seed);

} // namespace warpwright::trainer
