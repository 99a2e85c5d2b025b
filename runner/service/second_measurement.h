// What two measurements of one candidate, in two processes, say together: a large speedup is believed as far as both reach.
// Thread: pure.
#pragma once

#include "support/model/verdict.h"

namespace warpwright::runner {

/// The smaller of the two where both were verified, with a check that says how they agree; else the second as it is, with that check.
/// Baselines that only the first was asked for are kept.
/// @param first has a speedup
model::Verdict compared(const model::Verdict &first, model::Verdict second);

} // namespace warpwright::runner
