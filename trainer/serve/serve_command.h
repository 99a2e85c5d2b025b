// `serve`: the environment for programs that train language models (docs/use/environment.md). Thread:
// main.
#pragma once

#include "trainer/stages/workplace.h"

namespace warpwright::trainer {

/// Serves until a stop. Prints the address to stderr. Errors: as Workplace::open() and
/// ServeFront::open(); no tasks; a split or a folder that cannot be used.
Result<void> run_serve(const Config &config, const Surroundings &surroundings);

} // namespace warpwright::trainer
