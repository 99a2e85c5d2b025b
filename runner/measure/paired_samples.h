// Samples in pairs, reference and candidate, and what is said of them. Thread: values.
#pragma once

#include "runner/measure/median_interval.h"
#include "runner/device/device.h"

#include <span>

namespace warpwright::runner {

/// Under which a pair was taken. A speedup that is real does not depend on it.
enum class Condition {
  Usual,
  ThoroughFlush, ///< before each sample lines that a kernel asked to be evicted last were flushed, too
  LargeValues,  ///< inputs are of a larger magnitude, as they are drawn for checking
  SmallValues,  ///< of a smaller one
};

class PairedSamples {
public:
  /// Two samples of one pair, neither taken under a throttled clock.
  /// @param load how often the modules had been loaded for timing by then
  void add(const Sample &reference, const Sample &candidate, int load,
           Condition condition = Condition::Usual);
  /// Those of these conditions.
  PairedSamples under(std::span<const Condition> conditions) const;
  std::size_t size() const { return reference_ns_.size(); }
  const std::vector<double> &reference_ns() const { return reference_ns_; }
  const std::vector<double> &candidate_ns() const { return candidate_ns_; }
  void clear() { *this = {}; }

  /// Drops pairs whose sides ran at SM clocks that differ by more than kClockTolerance; none where that would
  /// leave less than half of them, for then the difference is the rule.
  /// @return how many were dropped
  int drop_unequal_clocks();

  /// @param bracket_ns what Time::kernel_ns leaves out; absent: there is none
  model::Time reference_time(std::optional<double> bracket_ns) const;
  model::Time candidate_time(std::optional<double> bracket_ns) const;
  /// Of reference time over candidate time.
  Interval ratio() const { return median_ratio_interval(reference_ns_, candidate_ns_, loads_); }
  /// The same, widened by what the timer's tick hides.
  model::Speedup speedup(const std::string &device) const;

private:
  std::vector<double> reference_ns_, candidate_ns_;
  std::vector<int> loads_;
  std::vector<Condition> conditions_;
  std::vector<double> clock_difference_; ///< over the larger clock; 0 where it is not known
};

/// What is credited to a candidate, and why it is less than what was measured; empty: it is all.
struct Credit {
  PairedSamples samples;
  std::string why_less;
};

/// Without the conditions whose ratio differs from the usual one by more than chance explains: as a mixture, no number of samples would
/// make the interval narrow.
PairedSamples alike(const PairedSamples &samples);

/// Those that are alike, or those of the conditions under which the ratio is smaller by more than kConditionMargin and more than chance
/// explains.
Credit credit(PairedSamples samples);

/// Ratios closer than this are taken for the same, whatever the condition.
inline constexpr double kConditionMargin = 0.01;

/// A pair whose clocks differ by more than this says more about clocks than about kernels.
inline constexpr double kClockTolerance = 0.02;

/// Takes one reading into the record.
void add_reading(model::ClockRecord &record, const ClockReading &reading);

} // namespace warpwright::runner
