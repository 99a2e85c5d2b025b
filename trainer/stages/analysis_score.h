// Accuracy of builtin policies' analyses: with scores hidden, compared with measurements and with guessing.
// Thread: main.
#pragma once

#include "trainer/stages/run_log.h"
#include "trainer/stages/versions.h"

namespace warpwright::trainer {

/// Logs one "analysis" line per builtin policy of eval.policies, from several pairs of versions of each task.
/// Errors: weights that cannot be read, a full disk.
Result<void> score_analyses(const Config &config, const Surroundings &surroundings,
                            Workplace &place, const std::vector<TaskVersions> &versions,
                            RunLog &log);

} // namespace warpwright::trainer
