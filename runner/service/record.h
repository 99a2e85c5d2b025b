// Record of a verdict: all that a re-run needs. Thread: the service's strand.
#pragma once

#include "runner/service/device_worker.h"

namespace warpwright::runner {

/// Draws the job's seed if it has none, and adds a model::Record to its verdict: task, plan,
/// requested options and the seed.
void carry_record(QueuedJob &job);

} // namespace warpwright::runner
