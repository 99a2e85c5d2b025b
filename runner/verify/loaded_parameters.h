// Check of another system's module with parameters other than its constructor's.
//
// Such a module stores parameters in its own form, so the outcome rests on those from its constructor:
// docs/candidates.md. The result for a trained module's parameters is reported beside the outcome. Thread: the job
// thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Loads a drawing's parameters, with constants varied, into the candidate by name, and judges one trial.
/// @return the check's result, or why it was impossible; nullopt: the task's module has no parameters
/// Faults: those that lose the device.
DeviceResult<std::optional<model::Check>> try_loaded_parameters(Job &job, std::uint64_t seed);

} // namespace warpwright::runner
