// Measuring one candidate against its reference.
//
// What is timed: the device time between two event nodes inside a CUDA graph that holds the plan's
// launches and fills, with a cold L2 cache; no host work, no graph launch, no restoring of buffers.
// Both sides run as graphs of the same kind on the same stream over the same buffers, in pairs
// whose order is random, with the inputs rotated among several drawings. Before every run outputs
// are poisoned and InOut buffers drawn anew, outside the bracket. Nothing is subtracted. On
// randomly chosen pairs the candidate's timed run is verified against the reference's run of the
// same pair, so a candidate cannot tell a timed run from a checked one. Leaves out as-called time
// (with launch overhead), which the torch kinds need. Thread: the job thread.
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
  model::Time reference_time, candidate_time;
  model::Speedup speedup;
  int discarded_samples = 0;
  int verified_samples = 0;
};

/// Faults: as the device's; Unsupported when all samples were taken under a throttled clock.
DeviceResult<Measurement> measure(Job &job, const MeasureSettings &settings);

} // namespace warpwright::runner
