// How often analyses of builtin policies are right: with scores hidden, against what was measured, beside what guessing reaches. Thread: main.
#pragma once

#include "trainer/stages/run_log.h"
#include "trainer/stages/versions.h"

namespace warpwright::trainer {

/// One "analysis" line a builtin policy of eval.policies; of each task several pairs of versions are asked about.
/// Errors: weights that cannot be read, a full disk.
Result<void> score_analyses(const Config &config, const Surroundings &surroundings,
                            Workplace &place, const std::vector<TaskVersions> &versions,
                            RunLog &log);

} // namespace warpwright::trainer
