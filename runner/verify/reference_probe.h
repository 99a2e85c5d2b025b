// Whether a native task's reference is at home at some sizes: it does not fault there, keeps within its buffers, writes its outputs
// and gives one result. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Runs the reference alone, on inputs that the candidate will not see, between guards so wide that a step
/// outside its buffers costs nothing.
/// @param may_leave_elements where the sizes are the task's, elements of its outputs that it does not write are its own business
/// @return why it is not at home at these sizes; nullopt where it is
/// Faults: only those that lose the device.
DeviceResult<std::optional<std::string>> probe_reference(Job &job, const Drawing &drawing,
                                                         bool may_leave_elements = false);

} // namespace warpwright::runner
