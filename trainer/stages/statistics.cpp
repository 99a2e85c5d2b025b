#include "trainer/stages/statistics.h"

#include "trainer/environment/walk.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

constexpr int kDrawings = 2000;

double mean(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / double(values.size());
}

} // namespace

Interval geometric_mean(const std::vector<double> &logs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> means;
  for (int i = 0; i < kDrawings && !logs.empty(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < logs.size(); ++j)
      sum += logs[draw_index(logs.size(), random)];
    means.push_back(sum / double(logs.size()));
  }
  if (means.empty())
    return {};
  std::ranges::sort(means);
  return {std::exp(mean(logs)), std::exp(means[kDrawings * 25 / 1000]),
          std::exp(means[kDrawings * 975 / 1000])};
}

Interval paired_ratio(const std::vector<double> &a, const std::vector<double> &b,
                      std::uint64_t seed) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    differences.push_back(a[i] - b[i]);
  return geometric_mean(differences, seed);
}

} // namespace warpwright::trainer
