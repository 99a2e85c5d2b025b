// One run of one plan over a buffer set, between checks for stray writes. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// A copy of every output of one run, in memory that the plans never see.
struct SavedOutputs {
  std::map<std::string, GuardedBuffer> copies;

  DeviceResult<void> save(Job &job, const BufferSet &set);
};

/// Runs a plan on the set and looks for stray writes. The failure speaks of "the plan".
DeviceResult<std::optional<Failure>> run_once(Job &job, BufferSet &set, const model::Plan &plan,
                                              const CompiledPlan &compiled, unsigned char poison);

/// Runs the fp64 reference on the promoted inputs of a drawing, aligned; nullopt where the task has
/// none.
DeviceResult<std::optional<BufferSet>> run_exact(Job &job, const Drawing &drawing);

} // namespace warpwright::runner
