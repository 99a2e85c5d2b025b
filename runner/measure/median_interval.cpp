// Ranks from the binomial distribution, and the effective number of independent samples.
#include "runner/measure/median_interval.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <numeric>

namespace warpwright::runner {
namespace {

/// Probability that an interval misses the median, without optional stopping.
constexpr double kMissed = 0.01;
/// Fewest samples whose correlation can be told from chance.
constexpr std::size_t kFewestToCorrelate = 10;
constexpr double kStrongestCorrelation = 0.95;
/// Fewest loads that show how loads differ.
constexpr std::size_t kFewestLoads = 3;

/// Largest r with P(Binomial(n, 1/2) < r) <= kMissed / 2, at least 1.
std::size_t rank_of(std::size_t n) {
  const double size = static_cast<double>(n), log_of_all = -size * std::log(2.0);
  double below = 0;
  std::size_t rank = 0;
  for (; rank < n / 2; ++rank) {
    const double k = static_cast<double>(rank);
    below += std::exp(log_of_all + std::lgamma(size + 1) - std::lgamma(k + 1) -
                      std::lgamma(size - k + 1));
    if (below > kMissed / 2)
      break;
  }
  return std::max<std::size_t>(rank, 1);
}

/// Effective number of independent samples: n (1 - r) / (1 + r) for a correlation r of neighbors. The correlation is
/// that of their side of the median, so that no outlier decides it.
double independent_count(std::span<const double> samples, double median) {
  const double n = static_cast<double>(samples.size());
  if (samples.size() < kFewestToCorrelate)
    return n;
  const auto side = [&](double value) { return (value > median) - (value < median); };
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    squares += side(samples[i]) * side(samples[i]);
    if (i > 0)
      products += side(samples[i]) * side(samples[i - 1]);
  }
  const double correlation = squares > 0 ? products / squares : 0;
  if (correlation <= 1 / std::sqrt(n))
    return n;
  const double bounded = std::min(correlation, kStrongestCorrelation);
  return n * (1 - bounded) / (1 + bounded);
}

} // namespace

double median_of(std::vector<double> &values) {
  assert(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double mean_of_middle_half(std::vector<double> &values) {
  std::ranges::sort(values);
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto first = values.begin() + quarter, last = values.end() - quarter;
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

Interval median_interval(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  const double median = median_of(sorted);
  std::sort(sorted.begin(), sorted.end());
  const double n = static_cast<double>(sorted.size());
  const double from_middle = (n / 2 - static_cast<double>(rank_of(sorted.size()))) *
                             std::sqrt(n / independent_count(samples, median));
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::floor(n / 2 - from_middle)));
  return {median, sorted[rank - 1], sorted[sorted.size() - rank]};
}

Interval median_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator) {
  assert(numerator.size() == denominator.size());
  std::vector<double> ratios(numerator.size());
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = numerator[i] / denominator[i];
  return median_interval(ratios);
}

Interval median_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator, std::span<const int> loads) {
  Interval interval = median_ratio_interval(numerator, denominator);
  std::vector<double> medians; // log ratios' median of each load
  for (std::size_t begin = 0, end = 0; begin < loads.size(); begin = end) {
    std::vector<double> logs;
    for (; end < loads.size() && loads[end] == loads[begin]; ++end)
      logs.push_back(std::log(numerator[end] / denominator[end]));
    medians.push_back(median_of(logs));
  }
  if (medians.size() < kFewestLoads)
    return interval;
  const double count = static_cast<double>(medians.size());
  const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / count;
  double squares = 0;
  for (const double median : medians)
    squares += (median - mean) * (median - mean);
  const double quantile =
      boost::math::quantile(boost::math::students_t(count - 1), 1 - kMissed / 2);
  const double half_width = quantile * std::sqrt(squares / (count - 1) / count);
  interval.low = std::min(interval.low, std::exp(mean - half_width));
  interval.high = std::max(interval.high, std::exp(mean + half_width));
  return interval;
}

double half_tick(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  double tick = 0;
  std::size_t steps = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (const double step = sorted[i] - sorted[i - 1]; step > 0) {
      tick = steps++ == 0 ? step : std::min(tick, step);
    }
  return 2 * (steps + 1) <= sorted.size() ? tick / 2 : 0;
}

} // namespace warpwright::runner
