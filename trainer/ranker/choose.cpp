#include "trainer/ranker/choose.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpwright::trainer {
namespace {

constexpr double kDeviations = 1.6449; ///< of a normal variable that hold 90% on both sides
constexpr double kAlike = 0.5;
constexpr std::size_t kOneIn = 4; ///< proposals, one of which may be unsupported

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double normal_share(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

double score_of(const Scored &candidate, double best_log, std::span<const Scored> taken) {
  const Prediction &expected = candidate.prediction;
  double score =
      expected.verifies * expected_improvement(expected.log_speedup, expected.half_width, best_log);
  for (const Scored &one : taken)
    if (alike(*candidate.moves, *one.moves))
      score *= kAlike;
  return score;
}

} // namespace

bool alike(const Moves &a, const Moves &b) {
  if (a.size() != b.size())
    return false;
  int differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const MoveText one = parsed_move(a[i]), other = parsed_move(b[i]);
    if (one.name != other.name || one.parameters.size() != other.parameters.size())
      return false;
    for (std::size_t j = 0; j < one.parameters.size(); ++j)
      differences += one.parameters[j] != other.parameters[j];
  }
  return differences <= 1;
}

double expected_improvement(double mean, double width, double best) {
  const double deviation = width / kDeviations, gap = mean - best;
  if (deviation <= 0)
    return std::max(0.0, gap);
  const double z = gap / deviation;
  return std::max(0.0, gap * normal_share(z) + deviation * normal_density(z));
}

std::optional<std::size_t> choose(std::span<const Scored> pool, double best_log,
                                  std::span<const Scored> taken) {
  const auto unsupported = std::size_t(
      std::ranges::count_if(taken, [](const Scored &one) { return !one.prediction.supported; }));
  const bool takes_unsupported = (unsupported + 1) * kOneIn <= taken.size() + 1;
  std::optional<std::size_t> found;
  double best = -1;
  for (const bool any : {takes_unsupported, true}) {
    for (std::size_t i = 0; i < pool.size(); ++i) {
      if (!any && !pool[i].prediction.supported)
        continue;
      const double score = score_of(pool[i], best_log, taken);
      if (score > best) {
        best = score;
        found = i;
      }
    }
    if (found)
      return found;
  }
  return found;
}

} // namespace warpwright::trainer
