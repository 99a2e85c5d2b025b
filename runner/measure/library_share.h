// Share of a candidate's device time that its library steps take.
//
// The plan's ATen calls run as a graph of their own on the buffers that whole runs filled, timed beside the whole plan
// by the same rules: cold L2, random order. The rest is the plan's own kernels and fills. The share only informs; it
// needs fewer samples than a ratio. Thread: the job thread.
#pragma once

#include "runner/measure/input_sets.h"

#include <optional>

namespace warpwright::runner {

/// @param bracket_ns time that two stamps add to the work between them; 0: unknown
/// @return 0..1; 0 without library steps, 1 with nothing else; nullopt: the steps cannot be captured alone
/// Faults: those that lose the device; Timeout.
DeviceResult<std::optional<double>>
measure_library_share(Job &job, InputSet &set, std::mt19937_64 &random, double bracket_ns);

} // namespace warpwright::runner
