// Launches that begin while the one before them ends (programmatic dependent launch).
#pragma once

#include "support/model/plan.h"

namespace warpwright::planning {

/// Marks the plan's launches as overlapped, except cooperative ones and those of written kernels. Each kernel of the
/// source first lets the next launch begin, then waits until all memory of the launches before it is written.
void overlap_launches(model::Plan &plan);

} // namespace warpwright::planning
