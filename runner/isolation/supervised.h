// The end of a process that became a supervisor, as the service sees it. Thread: any.
#pragma once

#include "support/process.h"

#include <optional>

namespace warpwright::runner {

/// Asks it to end, which it does when all that it started has ended; one that has not within two
/// seconds is killed. Empty afterwards.
void end_supervised(std::optional<Process> &process);

} // namespace warpwright::runner
