// Means over tasks and their intervals. Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct Interval {
  double value = 0, low = 0, high = 0; ///< 95%
};

/// exp of the mean of `logs`, with a bootstrap over them (percentiles of 2000 drawings). A single one has an interval of no width.
Interval geometric_mean(const std::vector<double> &logs, std::uint64_t seed);

/// The same of exp(a - b), task by task: tasks are drawn, not policies, so what is hard for both cancels.
/// @param a, b of equal length
Interval paired_ratio(const std::vector<double> &a, const std::vector<double> &b,
                      std::uint64_t seed);

} // namespace warpwright::trainer
