// What makes a torch module no reference: results that are not numbers, or that differ from call to call.
//
// Found on the reference's two runs from the same inputs. Differences as the order of additions makes them are no problem; those
// of dropout are. Thread: the job thread.
#pragma once

#include "runner/verify/plan_run.h"

namespace warpwright::runner {

/// @param saved of both runs of the reference
/// @return outcome Unsupported, with what the module did; nullopt: it is a reference
DeviceResult<std::optional<Failure>> find_reference_problem(Job &job, const Drawing &drawing,
                                                            const SavedOutputs (&saved)[2]);

/// Runs the reference alone on the drawing, before anything is concluded from a candidate's run on it. Faults of the module are
/// problems, but for those that lose the device.
DeviceResult<std::optional<Failure>> try_reference(Job &job, const Drawing &drawing);

} // namespace warpwright::runner
