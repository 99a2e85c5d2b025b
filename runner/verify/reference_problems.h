// Problems that make a torch module unusable as a reference: results that are not numbers or differ between calls.
//
// They are found in the reference's two runs from the same inputs. Differences typical of another order of additions
// are no problem; those of dropout are. Thread: the job thread.
#pragma once

#include "runner/verify/plan_run.h"

namespace warpwright::runner {

/// @param saved outputs of the reference's two runs
/// @return outcome Unsupported, with a description of the problem; nullopt: the module is usable
DeviceResult<std::optional<Failure>> find_reference_problem(Job &job, const Drawing &drawing,
                                                            const SavedOutputs (&saved)[2]);

/// Runs the reference alone on the drawing, before a candidate's run on it is judged. Faults of the module are
/// problems, except those that lose the device.
DeviceResult<std::optional<Failure>> try_reference(Job &job, const Drawing &drawing);

} // namespace warpwright::runner
