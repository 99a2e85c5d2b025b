// Verification of one candidate, steps 1 to 5 of ARCHITECTURE.md's life of a verdict.
// Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <chrono>

namespace warpwright::runner {

struct VerifySettings {
  bool measure = true;
  std::chrono::milliseconds measure_budget{2'000};
  std::uint64_t seed =
      0; ///< of all drawings; 0: unpredictable, so that no candidate can know its inputs
};

struct VerifyResult {
  model::Verdict verdict;
  bool device_lost = false; ///< the worker must end after reporting
};

VerifyResult verify(Device &device, const model::Task &task, const model::Plan &candidate,
                    const VerifySettings &settings, const StageSink &sink);

/// Now, as ISO 8601 in UTC.
std::string utc_now();

} // namespace warpwright::runner
