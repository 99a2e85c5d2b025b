// The system call filters of worker processes, by libseccomp. Thread: any; holds for all threads.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

/// All that is refused, or the part that a GPU's driver survives while it starts: the latter is what
/// containers of GPU programs are commonly denied.
enum class FilterPart { ForStart, Whole };

/// Needs no_new_privs. From then on nothing can be undone; a later filter adds to an earlier one.
IsolationLayer filter_system_calls(WorkerKind kind, FilterPart part);

} // namespace warpwright::runner
