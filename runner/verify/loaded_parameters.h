// Check of another system's module with parameters other than its constructor's.
//
// The module may store parameters in another form, so the outcome is decided with its constructor's parameters
// (docs/use/candidates.md). The result for a trained module's parameters is reported beside the outcome. Thread: the job
// thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Loads a drawing's parameters, with constants varied, into the candidate by name, and judges one trial.
/// @return the check's result, or why it was impossible; nullopt: the task's module has no parameters
/// Faults: those that lose the device.
DeviceResult<std::optional<model::Check>> try_loaded_parameters(Job &job, std::uint64_t seed);

} // namespace warpwright::runner
