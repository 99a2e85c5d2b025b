// Measuring one candidate against its reference.
//
// Two times. Device time is between two event nodes inside a CUDA graph that holds the plan's launches and
// fills: no host work, no graph launch, no restoring of buffers. As-called time is the host's, from before
// the first driver call of plain launches until the stream is idle. Both sides run the same way on the same
// stream over the same buffers with a cold L2 cache, in pairs whose order is random, device and as-called
// pairs mixed at random. Outputs are poisoned and InOut buffers drawn anew before every run, outside the
// bracket.
//
// So that a plan cannot live on what it kept: no inputs are timed twice. Before every pair they are drawn anew
// in place, at random in part only, so that a key of some elements still fits and the result does not; the
// module is loaded anew for timing, again and again while timing (which also keeps the places where code comes
// to lie from deciding the ratio), and once at a random moment; timed runs are verified at random, by the same
// rule as all others. A plan cannot tell a timed run from a checked one. One pair in four is taken behind a flush that drives out lines marked to be evicted last,
// one on inputs of another magnitude: a gain that is not there counts for nothing. Thread: the job thread.
#pragma once

#include "runner/measure/stopping_rule.h"
#include "runner/verify/job.h"

namespace warpwright::runner {

struct MeasureSettings {
  StoppingLimits limits;
  std::uint64_t seed = 1; ///< of orders, drawings and the choice of verified samples
};

struct Measurement {
  std::optional<Failure> failure; ///< a timed run whose result was wrong
  /// Absent where a side has no device time; then the interval of the as-called ratio decides when it is enough.
  std::optional<model::Time> reference_time, candidate_time;
  std::optional<model::Speedup> speedup;
  std::string why_no_device_time;
  std::string
      why_less; ///< the speedup than what was measured under the usual conditions; see credit()
  std::string
      host_check; ///< what the host's clock says of the device time; empty: it was not asked
  std::optional<model::AsCalled> as_called; ///< absent where the budget did not suffice
  std::optional<double> library_share;      ///< of torch tasks: see runner/measure/library_share.h
  std::optional<model::ClockRecord> clocks;
  int discarded_samples = 0;
  int verified_samples = 0, loads = 0;
  /// Of host code: the reference's samples under the usual conditions, beside the candidate's process.
  std::vector<Sample> reference_samples;
  int partly_redrawn = 0; ///< pairs whose inputs were those of an earlier one but for a part
  CompiledPlan
      candidate; ///< as it was timed: its `__device__` variables hold what the runs left there
};

/// Faults: as the device's; Unsupported when all samples were taken under a throttled clock.
DeviceResult<Measurement> measure(Job &job, const MeasureSettings &settings);

/// The reference by itself, in the same way; the candidate is not made ready.
/// @param as_called what the samples are compared with: as-called times; else device times
DeviceResult<std::vector<Sample>> time_reference_alone(Job &job, const MeasureSettings &settings,
                                                       bool as_called);

} // namespace warpwright::runner
