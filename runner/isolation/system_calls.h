// System call filters of worker processes, by libseccomp. Thread: any; applies to all threads.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

/// Whole: all refused calls. ForStart: the part with which a GPU's driver can start, which is about
/// what containers with GPU programs usually deny.
enum class FilterPart { ForStart, Whole };

/// Loads the filter. Needs no_new_privs. A filter cannot be removed, and a later one adds to it.
IsolationLayer filter_system_calls(WorkerKind kind, FilterPart part);

} // namespace warpwright::runner
