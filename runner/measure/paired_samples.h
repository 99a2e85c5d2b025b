// Samples in pairs of reference and candidate, and their statistics.
#pragma once

#include "runner/measure/median_interval.h"
#include "runner/device/device.h"

#include <span>

namespace warpwright::runner {

/// Condition under which a pair was taken. A real speedup does not depend on it.
enum class Condition {
  Usual,
  ThoroughFlush, ///< each sample follows a flush of lines marked evict-last, too
  LargeValues,  ///< larger inputs, as drawn for checking
  SmallValues,  ///< smaller inputs
};

class PairedSamples {
public:
  /// Adds the two samples of a pair, neither taken under a throttled clock.
  /// @param load number of loads of the modules for timing so far
  void add(const Sample &reference, const Sample &candidate, int load,
           Condition condition = Condition::Usual);
  /// The pairs taken under these conditions.
  PairedSamples under(std::span<const Condition> conditions) const;
  std::size_t size() const { return reference_ns_.size(); }
  const std::vector<double> &reference_ns() const { return reference_ns_; }
  const std::vector<double> &candidate_ns() const { return candidate_ns_; }
  void clear() { *this = {}; }

  /// Drops pairs whose SM clocks differ by more than kClockTolerance; none if fewer than half would remain, since the
  /// difference is then the rule. @return the number of dropped pairs
  int drop_unequal_clocks();

  /// @param bracket_ns time that Time::kernel_ns leaves out; absent: none
  model::Time reference_time(std::optional<double> bracket_ns) const;
  model::Time candidate_time(std::optional<double> bracket_ns) const;
  /// Interval of the ratio of reference time to candidate time.
  Interval ratio() const { return median_ratio_interval(reference_ns_, candidate_ns_, loads_); }
  /// The same, widened by the resolution of the timer.
  model::Speedup speedup(const std::string &device) const;

private:
  std::vector<double> reference_ns_, candidate_ns_;
  std::vector<int> loads_;
  std::vector<Condition> conditions_;
  std::vector<double> clock_difference_; ///< over the larger clock; 0 where it is not known
};

/// Samples credited to a candidate, and why they show less than was measured; empty: no reduction.
struct Credit {
  PairedSamples samples;
  std::string why_less;
};

/// `samples` without conditions whose ratio differs significantly from the usual one: mixed, they would keep the
/// interval wide for any number of samples.
PairedSamples alike(const PairedSamples &samples);

/// The alike samples, or those of the conditions whose ratio is significantly smaller, by over kConditionMargin.
Credit credit(PairedSamples samples);

/// Closer ratios count as equal under any condition.
inline constexpr double kConditionMargin = 0.01;

/// A pair with a larger difference of clocks says more about clocks than about kernels.
inline constexpr double kClockTolerance = 0.02;

/// Adds one reading to the record.
void add_reading(model::ClockRecord &record, const ClockReading &reading);

} // namespace warpwright::runner
