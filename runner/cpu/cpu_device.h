// The CPU backend as a Device: it checks correctness on machines without a GPU.
//
// The device compiles with Clang's libraries in this process, caches the object code, and runs
// kernels on the calling thread. Launches are complete when launch() returns. The device reports no
// times, because CPU times say nothing about GPU times. Thread: the job thread.
#pragma once

#include "runner/torch/child_host.h"
#include "runner/device/device.h"
#include "support/error.h"

namespace warpwright::runner {

/// At most one device may exist per process at a time (faults.h gives the reason).
/// @param torch host of torch tasks; null if the device supports none
Result<std::unique_ptr<Device>> make_cpu_device(std::unique_ptr<ChildHost> torch = nullptr);

} // namespace warpwright::runner
