// Device time of each step of a candidate.
//
// The first steps of the plan, up to each of its steps in turn, run as graphs of their own on the buffers that whole
// runs filled, timed by the same rules as the whole plan: cold L2, random order. A step's time is what it adds to the
// steps before it, so that it reads from the L2 what they left there. The times inform people and searches; they need
// fewer samples than a ratio. Thread: the job thread.
#pragma once

#include "runner/measure/input_sets.h"

#include <optional>

namespace warpwright::runner {

struct StepTimes {
  std::vector<double> ns;             ///< of each step; empty: too many steps, or they cannot be captured alone
  std::optional<double> library_part; ///< 0 to 1: the part of the whole time in ATen steps; nullopt: unknown
};

/// @param bracket_ns time that two stamps add to the work between them; 0: unknown
/// Faults: those that lose the device; Timeout.
DeviceResult<StepTimes> measure_step_times(Job &job, InputSet &set, std::mt19937_64 &random,
                                           double bracket_ns);

} // namespace warpwright::runner
