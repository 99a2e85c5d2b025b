// Makes a verdict say all that a re-run needs. Thread: the service's strand.
#pragma once

#include "runner/service/device_worker.h"

namespace warpwright::runner {

/// Draws the job's seed where it has none, and from then on whatever verdict the job ends with carries its
/// model::Record: task, plan, options as asked for, and that seed.
void carry_record(QueuedJob &job);

} // namespace warpwright::runner
