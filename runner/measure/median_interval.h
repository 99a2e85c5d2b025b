// Median of samples with a confidence interval from order statistics.
//
// The interval of n samples lies between the r-th smallest and the r-th largest, with r from the binomial distribution.
// It assumes only that samples are independent (David and Nagaraja, Order Statistics, 7.1). The percentile bootstrap of
// a median tends to the same interval, but has noise of its own and falls short at few samples. Measuring stops when
// the interval is narrow, which favors accidentally narrow intervals; each is therefore made at 99%, and covers at
// least 95% after stopping (simulated in tests/runner/measure_test.cpp; figures in docs/internals/measuring.md).
// Correlated samples count for fewer. Samples of a pair stay together: drift of both sides cancels in their ratio.
#pragma once

#include <span>
#include <vector>

namespace warpwright::runner {

struct Interval {
  double median = 0, low = 0, high = 0;
  /// Half of the interval's width relative to the median.
  double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 1; }
};

/// @param values reordered; not empty
double median_of(std::vector<double> &values);

/// Mean of the middle half: as robust as a median against outliers, and finer than a timer's tick.
/// @param values reordered; not empty
double mean_of_middle_half(std::vector<double> &values);

/// @param samples in the order taken, not empty; with fewer than 6 the interval spans all and covers less than 95%
Interval median_interval(std::span<const double> samples);

/// Interval of the median of numerator[i] / denominator[i].
/// @param numerator, denominator of equal length, not empty
Interval median_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator);

/// The same, widened for differences between loads of the modules: the placement of code and graphs may favor one side
/// for a whole load, so samples of one load are not independent. The result is the hull of the above and a Student's t
/// interval over each load's median log ratio.
/// @param loads number of each pair's load, never decreasing; empty: unknown
Interval median_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator, std::span<const int> loads);

/// Half of a timer's tick, estimated as the smallest step between repeated samples. 0: most samples differ, so that the
/// tick does not matter.
/// @param samples not empty
double half_tick(std::span<const double> samples);

} // namespace warpwright::runner
