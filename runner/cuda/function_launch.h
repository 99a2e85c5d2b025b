// One launch of a loaded kernel: whether the device holds it, and the driver's call.
//
// A launch that the device cannot hold is Unsupported before it starts: it says nothing about the source, and a GPU with fewer
// multiprocessors, a MIG slice of one, or one with less shared memory is no fault of the plan. Thread: any with the device's context.
#pragma once

#include "runner/cuda/driver.h"

namespace warpwright::runner::cuda {

/// Blocks of the kernel that the device holds at once, whatever else runs there. The kernel's attributes must be set before.
Result<std::int64_t> resident_blocks(const Driver &driver, CUdevice device, CUfunction function,
                                     const LaunchOperation &launch);

/// Asks for the shared memory that the launch wants, and for a cooperative launch whether all its blocks fit at once.
/// Faults: Unsupported with what is needed and what there is ("k needs 132 resident blocks, this device holds 98").
DeviceResult<void> make_ready(const Driver &driver, CUdevice device, CUfunction function,
                              const LaunchOperation &launch);

/// Starts it; a cooperative launch is one of the driver's, which takes all blocks or none, also in a stream that is captured.
/// @param arguments to the bytes of each argument
Status start(const Driver &driver, CUfunction function, const LaunchOperation &launch,
             CUstream stream, void **arguments);

} // namespace warpwright::runner::cuda
