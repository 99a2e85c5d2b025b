// Whether another system's candidate made the reference slow.
//
// In pairs such a candidate's process stands still while the reference runs, but what it left running on the GPU does not. So once the
// process has ended the reference is timed again, by itself: a speedup over a reference that was held up is none. Clocks may
// differ between the two, for a candidate may draw much power and that is no cheat: where they are known, the reference must also
// have taken more cycles. A GPU that two processes share in turn costs each some time, whatever they do (6% of 107 us on an H200):
// where the reference was slower, it is also timed beside a process that runs the task's own module, and must be slower than that.
// Thread: the job thread; compare_with_alone() is pure.
#pragma once

#include "runner/measure/session.h"

namespace warpwright::runner {

inline constexpr const char *kReferenceAloneCheck = "the reference is as fast alone";

struct ReferenceAlone {
  bool slowed = false;
  std::string text; ///< "110 us beside the candidate's process, 90.1 us without it"
};

/// @param beside, alone not empty
/// @param beside_own the reference's samples beside the task's own module in another process; empty: not taken
ReferenceAlone compare_with_alone(const std::vector<Sample> &beside, const std::vector<Sample> &alone,
                                  const std::vector<Sample> &beside_own = {});

/// Ends the candidate's process.
/// @param beside the reference's samples beside it
/// @return nullopt: there are too few samples to tell
DeviceResult<std::optional<ReferenceAlone>>
time_without_candidate(Job &job, const MeasureSettings &settings, bool as_called,
                       const std::vector<Sample> &beside);

} // namespace warpwright::runner
