// Launch of a loaded kernel: the check whether the device can hold the launch, and the driver call.
//
// A launch that exceeds the device is Unsupported and does not start. Such a launch is no error of
// the source or the plan: the GPU may have fewer multiprocessors or less shared memory than others,
// or may be a MIG slice. Thread: any with the device's context.
#pragma once

#include "runner/cuda/driver.h"

namespace warpwright::runner::cuda {

/// Number of the kernel's blocks that can be resident at once if nothing else runs on the device; 0
/// without support for cooperative launches. The kernel's attributes must be set before.
Result<std::int64_t> resident_blocks(const Driver &driver, CUdevice device, CUfunction function,
                                     const LaunchOperation &launch);

/// Opts in to the shared memory that the launch needs. Checks that all blocks of a cooperative
/// launch fit at once.
/// Faults: Unsupported with the required and the available amount ("k needs 132 resident blocks,
/// this device holds 98").
DeviceResult<void> make_ready(const Driver &driver, CUdevice device, CUfunction function,
                              const LaunchOperation &launch);

/// Starts the launch. Cooperative launches use cuLaunchCooperativeKernel, which starts all blocks
/// or none, also while the stream is being captured.
/// @param arguments pointers to the bytes of each argument
Status start(const Driver &driver, CUfunction function, const LaunchOperation &launch,
             CUstream stream, void **arguments);

} // namespace warpwright::runner::cuda
