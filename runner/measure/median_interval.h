// Median and an interval that holds the true one, from order statistics.
//
// The interval of n samples lies between the r-th smallest and the r-th largest, with r from the binomial
// distribution: nothing is assumed about the noise but that samples do not depend on each other (David and
// Nagaraja, Order Statistics, 7.1). It is what the percentile bootstrap of a median tends to, without the
// bootstrap's own noise and its shortfall at few samples. Measuring stops when the interval is narrow, which
// favours intervals that are narrow by luck; therefore each is made at 99%, and covers 95% and more after
// stopping (simulated in tests/runner/measure_test.cpp; figures in docs/internals/measuring.md).
// Samples that follow their predecessors count for fewer. Pairs stay pairs: drift that hits both sides cancels in their ratio.
// Thread: pure functions.
#pragma once

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

/// Mean of the middle half: as robust as a median against outliers, and finer than a timer's tick.
/// @param values reordered; not empty
double mean_of_middle_half(std::vector<double> &values);

/// @param samples in the order in which they were taken, not empty; under 6 of them the interval is from the
/// least to the greatest and covers less than 95%
Interval median_interval(std::span<const double> samples);

/// Of numerator[i] / denominator[i].
/// @param numerator, denominator of one length, not empty
Interval median_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator);

/// The same, wide enough also for what differs from one load of the modules to the next: where code and
/// graphs came to lie favours one side for as long as they lie there, so samples of one load are no independent
/// witnesses. Hull of the above and of a Student's t interval over the median log ratio of each load.
/// @param loads of each pair, the number of the load that it was taken in, never decreasing; empty: not known
Interval median_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator, std::span<const int> loads);

/// Half of a timer's tick, seen from samples that repeat: the smallest step between them. 0 where most
/// samples differ, so that the tick does not matter.
/// @param samples not empty
double half_tick(std::span<const double> samples);

} // namespace warpwright::runner
