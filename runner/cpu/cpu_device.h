// The CPU backend as a Device: proves correctness where there is no GPU, and measures nothing.
//
// Compiles with Clang's libraries in this process, keeps the object code of what it compiled, and
// runs kernels on the calling thread. Launches end inside launch(). Its times are no GPU times, so
// it reports none. Thread: the job thread.
#pragma once

#include "runner/torch/child_host.h"
#include "runner/device/device.h"
#include "support/error.h"

namespace warpwright::runner {

/// One device a process at a time (faults.h says why).
/// @param torch null: no torch tasks
Result<std::unique_ptr<Device>> make_cpu_device(std::unique_ptr<ChildHost> torch = nullptr);

} // namespace warpwright::runner
