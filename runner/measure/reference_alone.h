// Check that another system's candidate did not slow the reference down.
//
// In pairs the candidate's process is stopped while the reference runs, but work it left on the GPU is not. After the
// process has ended, the reference is therefore timed again alone; a speedup over a delayed reference does not count.
// Clocks may differ between the two, since a candidate may legitimately draw much power: where clocks are known, the
// reference must also have taken more cycles. Two processes that share a GPU delay each other in any case (6% of 107 us
// on an H200), so a slower reference is also timed beside a process that runs the task's own module, and must be slower
// than that.
// Thread: the job thread.
#pragma once

#include "runner/measure/session.h"

namespace warpwright::runner {

inline constexpr const char *kReferenceAloneCheck = "the reference is as fast alone";

struct ReferenceAlone {
  bool slowed = false;
  std::string text; ///< "110 us beside the candidate's process, 90.1 us without it"
};

/// @param beside, alone not empty
/// @param beside_own the reference's samples beside a process with the task's own module; empty: not taken
ReferenceAlone compare_with_alone(const std::vector<Sample> &beside, const std::vector<Sample> &alone,
                                  const std::vector<Sample> &beside_own = {});

/// Ends the candidate's process.
/// @param beside the reference's samples beside it
/// @return nullopt: too few samples
DeviceResult<std::optional<ReferenceAlone>>
time_without_candidate(Job &job, const MeasureSettings &settings, bool as_called,
                       const std::vector<Sample> &beside);

} // namespace warpwright::runner
