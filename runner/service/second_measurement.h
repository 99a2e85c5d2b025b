// Combination of two measurements of one candidate in two processes. A large speedup is reported
// only as far as both measurements support it.
// Thread: pure.
#pragma once

#include "support/model/verdict.h"

namespace warpwright::runner {

/// The verdict with the smaller speedup if both are verified, else the second verdict. A check says
/// whether the two agree. If both are verified, baselines that only the first measured are kept.
/// @param first has a speedup
model::Verdict compared(const model::Verdict &first, model::Verdict second);

} // namespace warpwright::runner
