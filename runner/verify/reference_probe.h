// Test run of a native task's reference at some sizes: it works there if it does not fault, stays within its buffers,
// writes its outputs and is deterministic. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Runs the reference alone, on inputs hidden from the candidate, between guards so wide that a step outside its
/// buffers does no harm.
/// @param may_leave_elements allows unwritten output elements; used at the task's own sizes
/// @return why the reference does not work at these sizes; nullopt: it does
/// Faults: those that lose the device.
DeviceResult<std::optional<std::string>> probe_reference(Job &job, const Drawing &drawing,
                                                         bool may_leave_elements = false);

} // namespace warpwright::runner
