// Sandbox of workers that use NVRTC. Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

/// A sandbox that can read NVRTC and the toolkit's headers.
Sandbox cuda_sandbox(WorkerKind kind);

} // namespace warpwright::runner
