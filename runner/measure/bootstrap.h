// Median and its 95% confidence interval by the percentile bootstrap (Efron, 1979), over single
// samples and over pairs. Pairs are resampled as pairs, so drift that hits both sides cancels in
// their ratio. Thread: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpwright::runner {

struct Interval {
  double median = 0, low = 0, high = 0;
  /// Half of the interval's width over the median.
  double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 1; }
};

/// @param values reordered; not empty
double median_of(std::vector<double> &values);

/// @param samples not empty
Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed, int resamples = 500);

/// Of numerator[i] / denominator[i].
/// @param numerator, denominator of one length, not empty
Interval bootstrap_median_ratio(std::span<const double> numerator,
                                std::span<const double> denominator, std::uint64_t seed,
                                int resamples = 500);

} // namespace warpwright::runner
