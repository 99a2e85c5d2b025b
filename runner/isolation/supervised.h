// End of a supervisor process, as seen by the service. Thread: any.
#pragma once

#include "support/process.h"

#include <optional>

namespace warpwright::runner {

/// Asks the supervisor to end, which it does after everything that it started has ended; kills it
/// after two seconds. `process` is empty afterwards.
void end_supervised(std::optional<Process> &process);

} // namespace warpwright::runner
