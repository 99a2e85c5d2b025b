// Measuring session of one candidate against its reference.
//
// It measures two times. Device time lies between two event nodes in a CUDA graph of the plan's launches and fills,
// without host work, graph launch or restoring of buffers. As-called time is the host's, from before the first driver
// call of plain launches until the stream is idle. Both sides run the same way on the same stream and buffers with a
// cold L2 cache, in pairs of random order; device and as-called pairs are mixed at random. Before every run, outside
// the bracket, outputs are poisoned and InOut buffers drawn again.
//
// Several rules keep a plan from using kept results. Inputs are never timed twice: before every pair they are redrawn
// in place, at random only in part, so that a key of a few elements still matches but the result does not. Modules are
// reloaded repeatedly, also so that code placement does not decide the ratio, and once at a random moment. Random timed
// runs are verified by the usual rule, and a plan cannot recognize timed runs. One pair in four follows a flush of
// lines marked evict-last, and others use inputs of another magnitude: a gain that disappears there does not count.
// Thread: the job thread.
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
  /// Absent if a side has no device time; the interval of the as-called ratio then decides when to stop.
  std::optional<model::Time> reference_time, candidate_time;
  std::optional<model::Speedup> speedup;
  std::string why_no_device_time;
  std::string
      why_less; ///< why `speedup` is less than under the usual conditions; see credit(); else empty
  std::string
      host_check; ///< comparison of the device times with the host's clock; empty: it was not asked
  std::optional<model::AsCalled> as_called; ///< absent if the budget did not suffice
  /// Of torch tasks: see runner/measure/step_times.h.
  std::vector<double> step_ns;
  std::optional<double> library_share;
  std::optional<model::ClockRecord> clocks;
  int discarded_samples = 0;
  int verified_samples = 0, loads = 0;
  /// For host code: the reference's samples under the usual conditions, beside the candidate's process.
  std::vector<Sample> reference_samples;
  int partly_redrawn = 0; ///< pairs whose inputs were redrawn only in part
  CompiledPlan
      candidate; ///< as timed: its `__device__` variables keep the values that the runs left there
};

/// Faults: as the device's; Unsupported if all samples were taken under a throttled clock.
DeviceResult<Measurement> measure(Job &job, const MeasureSettings &settings);

/// Times the reference alone in the same way; the candidate is not prepared.
/// @param as_called true: take as-called times; false: device times
DeviceResult<std::vector<Sample>> time_reference_alone(Job &job, const MeasureSettings &settings,
                                                       bool as_called);

} // namespace warpwright::runner
