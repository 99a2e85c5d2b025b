// The percentile bootstrap. An even count's median is the mean of the two in the middle.
#include "runner/measure/bootstrap.h"

#include <algorithm>
#include <cassert>
#include <random>

namespace warpwright::runner {

double median_of(std::vector<double> &values) {
  assert(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed, int resamples) {
  std::vector<double> drawn(samples.begin(), samples.end());
  Interval interval;
  interval.median = median_of(drawn);
  std::mt19937_64 generator(seed);
  std::vector<double> medians(static_cast<std::size_t>(resamples));
  for (double &median : medians) {
    for (double &value : drawn)
      value = samples[generator() % samples.size()];
    median = median_of(drawn);
  }
  std::sort(medians.begin(), medians.end());
  const auto quantile = [&](double q) {
    return medians[static_cast<std::size_t>(q * (resamples - 1))];
  };
  interval.low = std::min(quantile(0.025), interval.median);
  interval.high = std::max(quantile(0.975), interval.median);
  return interval;
}

Interval bootstrap_median_ratio(std::span<const double> numerator,
                                std::span<const double> denominator, std::uint64_t seed,
                                int resamples) {
  assert(numerator.size() == denominator.size());
  std::vector<double> ratios(numerator.size());
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = numerator[i] / denominator[i];
  return bootstrap_median(ratios, seed, resamples);
}

} // namespace warpwright::runner
