#include "trainer/policy/exemplars.h"

#include "trainer/environment/walk.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

struct Bucket {
  std::vector<const Exemplar *> members;
  double sum = 0; ///< of log scores
  double mean() const { return sum / double(members.size()); }
};

/// Buckets of equal width between the worst and the best score, without empty ones.
std::vector<Bucket> buckets_of(const std::vector<const Exemplar *> &versions, int count) {
  const auto score = [](const Exemplar *version) { return std::log(*score_of(version->measured)); };
  double low = score(versions.front()), high = low;
  for (const Exemplar *version : versions) {
    low = std::min(low, score(version));
    high = std::max(high, score(version));
  }
  std::vector<Bucket> buckets(static_cast<std::size_t>(count));
  for (const Exemplar *version : versions) {
    const double share = high > low ? (score(version) - low) / (high - low) : 0;
    Bucket &bucket = buckets[std::size_t(std::min(double(count - 1), share * count))];
    bucket.members.push_back(version);
    bucket.sum += score(version);
  }
  std::erase_if(buckets, [](const Bucket &bucket) { return bucket.members.empty(); });
  return buckets;
}

std::size_t draw_bucket(const std::vector<Bucket> &buckets, double temperature,
                        std::mt19937_64 &random) {
  double best = buckets.front().mean(), sum = 0;
  for (const Bucket &bucket : buckets)
    best = std::max(best, bucket.mean());
  std::vector<double> weights;
  for (const Bucket &bucket : buckets) {
    weights.push_back(std::exp((bucket.mean() - best) / temperature));
    sum += weights.back();
  }
  double left = draw_unit(random) * sum;
  for (std::size_t i = 0; i + 1 < weights.size(); ++i)
    if ((left -= weights[i]) < 0)
      return i;
  return weights.size() - 1;
}

} // namespace

std::vector<Exemplar> choose_exemplars(const std::vector<Exemplar> &tried,
                                       const ExemplarChoice &choice, std::mt19937_64 &random) {
  std::vector<const Exemplar *> versions;
  for (const Exemplar &version : tried)
    if (score_of(version.measured).value_or(0) > 0)
      versions.push_back(&version);
  std::vector<Exemplar> chosen;
  if (versions.empty())
    return chosen;
  std::vector<Bucket> buckets = buckets_of(versions, choice.buckets);
  for (int i = 0; i < 2 && !buckets.empty(); ++i) {
    const std::size_t place = draw_bucket(buckets, choice.temperature, random);
    const auto &members = buckets[place].members;
    chosen.push_back(*members[draw_index(members.size(), random)]);
    buckets.erase(buckets.begin() + std::ptrdiff_t(place));
  }
  if (chosen.size() == 2 && draw_unit(random) < 0.5)
    std::swap(chosen[0], chosen[1]);
  return chosen;
}

} // namespace warpwright::trainer
