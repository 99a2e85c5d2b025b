// The losses of boosting.h.
#include "trainer/ranker/boosting.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpwright::trainer {
namespace {

constexpr double kMostDifference = 1.5; ///< of two targets, in units of the log speedup
constexpr double kFloor = 0.3;          ///< weight of a pair far from the ranking's top

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Discount of a place in a ranking, 0 the first.
double discount(std::size_t place) { return 1 / std::log2(2.0 + double(place)); }

} // namespace

Loss huber_loss(std::vector<float> targets, std::vector<float> weights, double width) {
  return [targets = std::move(targets), weights = std::move(weights),
          width](std::span<const float> values, std::span<Gradient> out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double error = double(values[i]) - targets[i], size = std::abs(error);
      // Beyond the width, the second derivative of the parabola through the error keeps Newton
      // steps short.
      const double slope = size <= width ? error : width * error / size;
      out[i] = {weights[i] * slope, weights[i] * (size <= width ? 1 : width / size)};
    }
  };
}

Loss logistic_loss(std::vector<float> labels, std::vector<float> weights) {
  return [labels = std::move(labels), weights = std::move(weights)](std::span<const float> values,
                                                                    std::span<Gradient> out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double chance = sigmoid(values[i]);
      out[i] = {weights[i] * (chance - labels[i]), weights[i] * chance * (1 - chance)};
    }
  };
}

Loss pairwise_loss(std::vector<float> targets, std::vector<RowGroup> groups, double noise) {
  return [targets = std::move(targets), groups = std::move(groups),
          noise](std::span<const float> values, std::span<Gradient> out) {
    std::ranges::fill(out, Gradient{});
    for (const RowGroup &group : groups) {
      std::vector<std::size_t> order(group.end - group.begin), place(order.size());
      std::iota(order.begin(), order.end(), group.begin);
      std::ranges::stable_sort(order,
                               [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
      for (std::size_t i = 0; i < order.size(); ++i)
        place[order[i] - group.begin] = i;
      for (std::size_t a = group.begin; a < group.end; ++a)
        for (std::size_t b = group.begin; b < group.end; ++b) {
          const double difference = double(targets[a]) - targets[b];
          if (difference <= noise)
            continue;
          const double change =
              std::abs(discount(place[a - group.begin]) - discount(place[b - group.begin]));
          const double weight =
              group.weight * std::min(difference, kMostDifference) * (kFloor + change);
          const double miss = sigmoid(double(values[b]) - values[a]);
          out[a].first -= weight * miss;
          out[b].first += weight * miss;
          out[a].second += weight * miss * (1 - miss);
          out[b].second += weight * miss * (1 - miss);
        }
    }
  };
}

} // namespace warpwright::trainer
