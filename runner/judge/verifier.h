// Verification of one candidate, steps 1 to 5 of ARCHITECTURE.md's life of a verdict.
// Thread: the job thread.
#pragma once

#include "runner/verify/job.h"
#include "support/model/verify_options.h"

namespace warpwright::runner {

using VerifySettings = model::VerifyOptions;

struct VerifyResult {
  model::Verdict verdict;
  bool device_lost = false; ///< the worker must end after reporting
};

VerifyResult verify(Device &device, const model::Task &task, const model::Plan &candidate,
                    const VerifySettings &settings, const StageSink &sink);

} // namespace warpwright::runner
