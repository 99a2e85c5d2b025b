// Whether another system's candidate made the reference slow.
//
// In pairs such a candidate's process stands still while the reference runs, but what it left running on the GPU does not. So once the
// process has ended the reference is timed again, by itself: a speedup over a reference that was held up is none. Clocks may
// differ between the two, for a candidate may draw much power and that is no cheat: where they are known, the reference must also
// have taken more cycles. Thread: the job thread; slowed_by() is pure.
#pragma once

#include "runner/measure/session.h"

namespace warpwright::runner {

inline constexpr const char *kReferenceAloneCheck = "the reference is as fast alone";

struct ReferenceAlone {
  bool slowed = false;
  std::string text; ///< "110 us beside the candidate's process, 90.1 us without it"
};

/// @param beside, alone not empty
ReferenceAlone compare_with_alone(const std::vector<Sample> &beside, const std::vector<Sample> &alone);

/// Ends the candidate's process.
/// @param beside the reference's samples beside it
/// @return nullopt: there are too few samples to tell
DeviceResult<std::optional<ReferenceAlone>>
time_without_candidate(Job &job, const MeasureSettings &settings, bool as_called,
                       const std::vector<Sample> &beside);

} // namespace warpwright::runner
