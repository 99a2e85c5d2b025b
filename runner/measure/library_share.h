// How much of a candidate's device time its library steps take.
//
// The plan's ATen calls alone, as a graph of their own over the buffers that whole runs filled, timed beside the whole plan by the same
// loop's rules: cold L2, random order. What is left between the two is the plan's own kernels and fills. A share says whose work
// a speedup is, and decides nothing; fewer samples than a ratio needs will do. Thread: the job thread.
#pragma once

#include "runner/measure/input_sets.h"

#include <optional>

namespace warpwright::runner {

/// @param bracket_ns what two stamps lie apart beyond what is between them; 0 where it is not known
/// @return 0..1; 0 for a plan without library steps, 1 for one of nothing else; nullopt where they cannot be captured alone
/// Faults: those after which the device is lost; Timeout.
DeviceResult<std::optional<double>>
measure_library_share(Job &job, InputSet &set, std::mt19937_64 &random, double bracket_ns);

} // namespace warpwright::runner
