// Statistics of pairs.
#include "runner/measure/paired_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

namespace warpwright::runner {
namespace {

/// Fewest samples for a condition; their interval then spans them all.
constexpr std::size_t kFewestOfACondition = 3;

constexpr Condition kUnusual[] = {Condition::ThoroughFlush, Condition::LargeValues,
                                  Condition::SmallValues};
/// Conditions with their names; both magnitudes together may have enough samples where each has too few.
constexpr std::pair<std::span<const Condition>, const char *> kNamed[] = {
    {{kUnusual, 1}, "lines that are evicted last are flushed, too"},
    {{kUnusual + 1, 1}, "inputs are of a larger magnitude"},
    {{kUnusual + 2, 1}, "inputs are of a smaller magnitude"},
    {{kUnusual + 1, 2}, "inputs are of another magnitude"}};

model::Time time_of(const std::vector<double> &samples, std::optional<double> bracket_ns) {
  const Interval interval = median_interval(samples);
  model::Time time{interval.median, interval.low, interval.high, static_cast<int>(samples.size())};
  if (bracket_ns && interval.median > *bracket_ns)
    time.kernel_ns = interval.median - *bracket_ns;
  return time;
}

void widen(std::optional<model::Range> &range, const std::optional<double> &value) {
  if (!value)
    return;
  if (!range)
    range = model::Range{*value, *value};
  range->low = std::min(range->low, *value);
  range->high = std::max(range->high, *value);
}

} // namespace

void PairedSamples::add(const Sample &reference, const Sample &candidate, int load,
                        Condition condition) {
  loads_.push_back(load);
  conditions_.push_back(condition);
  reference_ns_.push_back(reference.ns);
  candidate_ns_.push_back(candidate.ns);
  const auto &one = reference.clocks.sm_mhz, &other = candidate.clocks.sm_mhz;
  const double larger = one && other ? std::max(*one, *other) : 0;
  clock_difference_.push_back(larger > 0 ? std::abs(*one - *other) / larger : 0);
}

int PairedSamples::drop_unequal_clocks() {
  PairedSamples kept;
  for (std::size_t i = 0; i < size(); ++i)
    if (clock_difference_[i] <= kClockTolerance) {
      kept.reference_ns_.push_back(reference_ns_[i]);
      kept.candidate_ns_.push_back(candidate_ns_[i]);
      kept.loads_.push_back(loads_[i]);
      kept.conditions_.push_back(conditions_[i]);
      kept.clock_difference_.push_back(clock_difference_[i]);
    }
  const std::size_t dropped = size() - kept.size();
  if (dropped > size() / 2)
    return 0;
  *this = std::move(kept);
  return static_cast<int>(dropped);
}

PairedSamples PairedSamples::under(std::span<const Condition> conditions) const {
  PairedSamples found;
  for (std::size_t i = 0; i < size(); ++i)
    if (std::ranges::find(conditions, conditions_[i]) != conditions.end()) {
      found.reference_ns_.push_back(reference_ns_[i]);
      found.candidate_ns_.push_back(candidate_ns_[i]);
      found.loads_.push_back(loads_[i]);
      found.conditions_.push_back(conditions_[i]);
      found.clock_difference_.push_back(clock_difference_[i]);
    }
  return found;
}

PairedSamples alike(const PairedSamples &samples) {
  std::vector<Condition> kept{Condition::Usual};
  const PairedSamples usual = samples.under(kept);
  if (usual.size() < kFewestOfACondition)
    return samples;
  const Interval interval = usual.ratio();
  for (const Condition condition : kUnusual) {
    const PairedSamples others = samples.under({&condition, 1});
    if (others.size() >= kFewestOfACondition)
      if (const Interval other = others.ratio();
          other.low > interval.high || other.high < interval.low)
        continue;
    kept.push_back(condition);
  }
  return samples.under(kept);
}

Credit credit(PairedSamples samples) {
  const PairedSamples usual = samples.under(std::array{Condition::Usual});
  if (usual.size() < kFewestOfACondition)
    return {std::move(samples), ""};
  const Interval interval = usual.ratio();
  std::optional<Credit> least;
  double least_ratio = 0;
  for (const auto &[conditions, name] : kNamed) {
    PairedSamples others = samples.under(conditions);
    if (others.size() < kFewestOfACondition)
      continue;
    const Interval other = others.ratio();
    if (other.high * (1 + kConditionMargin) >= interval.low ||
        (least && other.median >= least_ratio))
      continue;
    std::ostringstream text;
    text.precision(3);
    text << "the ratio is " << interval.median << ", but " << other.median << " where " << name
         << ", which is what counts";
    least = Credit{std::move(others), text.str()};
    least_ratio = other.median;
  }
  return least ? std::move(*least) : Credit{alike(samples), ""};
}

model::Time PairedSamples::reference_time(std::optional<double> bracket_ns) const {
  return time_of(reference_ns_, bracket_ns);
}
model::Time PairedSamples::candidate_time(std::optional<double> bracket_ns) const {
  return time_of(candidate_ns_, bracket_ns);
}

model::Speedup PairedSamples::speedup(const std::string &device) const {
  const Interval interval = ratio();
  std::vector<double> reference = reference_ns_, candidate = candidate_ns_;
  const double hidden = half_tick(reference_ns_) / median_of(reference) +
                        half_tick(candidate_ns_) / median_of(candidate);
  return {interval.median, interval.low * (1 - hidden), interval.high * (1 + hidden),
          static_cast<int>(size()), device};
}

void add_reading(model::ClockRecord &record, const ClockReading &reading) {
  widen(record.sm_mhz, reading.sm_mhz);
  widen(record.memory_mhz, reading.memory_mhz);
  widen(record.temperature_c, reading.temperature_c);
  if (reading.power_capped)
    record.power_capped = record.power_capped.value_or(false) || *reading.power_capped;
}

} // namespace warpwright::runner
