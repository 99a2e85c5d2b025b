// Whether another system's module is right with other parameters than its constructor's.
//
// Such a module keeps parameters in a form of its own, so those are judged that its constructor makes: docs/candidates.md. What a trained
// module's would give is told beside the outcome. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Loads a drawing's parameters, in which constants vary, into the candidate by name, and judges one trial.
/// @return a check that says how it went, or why it could not be tried; nullopt: the task's module has no parameters
/// Faults: after which the device is lost.
DeviceResult<std::optional<model::Check>> try_loaded_parameters(Job &job, std::uint64_t seed);

} // namespace warpwright::runner
