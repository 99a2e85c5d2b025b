// The system call filters of worker processes, by libseccomp. Thread: any; holds for all threads.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

/// Needs no_new_privs. From then on nothing can be undone.
IsolationLayer filter_system_calls(WorkerKind kind);

} // namespace warpwright::runner
