// What workers that use NVRTC are let near. Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

/// NVRTC and the toolkit's headers.
Sandbox cuda_sandbox(WorkerKind kind);

} // namespace warpwright::runner
