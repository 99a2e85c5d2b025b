// An NVIDIA GPU as a Device, with the driver API for memory, launches and graphs, and NVRTC for
// code. Thread: the thread that made the device.
#pragma once

#include "runner/verify/compile_cache.h"
#include "runner/device/device.h"
#include "support/error.h"

#include <memory>

namespace warpwright::runner::cuda {

class CudaTorch;

/// @param ordinal as in "cuda:0"
/// @param torch torch host of the process, which then uses the device's stream; null if there is
///        none. It must outlive the device
/// @param cache cache of compiled code; null: every request is compiled
/// Errors: no driver, no such GPU, no NVRTC; each with a remedy.
Result<std::unique_ptr<Device>> make_cuda_device(int ordinal, CudaTorch *torch = nullptr,
                                                 std::shared_ptr<CompileCache> cache = nullptr);

/// The GPUs that the driver sees. Creates no context. Errors: those of Driver::load().
Result<std::vector<model::DeviceInfo>> list_cuda_devices();

} // namespace warpwright::runner::cuda
