// One NVIDIA GPU as a Device: driver API for memory, launches and graphs, NVRTC for code.
// Thread: the thread that made it.
#pragma once

#include "runner/verify/compile_cache.h"
#include "runner/device/device.h"
#include "support/error.h"

#include <memory>

namespace warpwright::runner::cuda {

class CudaTorch;

/// @param ordinal as in "cuda:0"
/// @param torch of the process, which then uses the device's stream; null: none. Outlives the device
/// @param cache null: everything is compiled
/// Errors: no driver, no such GPU, no NVRTC; each with what to do.
Result<std::unique_ptr<Device>> make_cuda_device(int ordinal, CudaTorch *torch = nullptr,
                                                 std::shared_ptr<CompileCache> cache = nullptr);

/// The GPUs that the driver sees, without making a context. Errors: as Driver::load().
Result<std::vector<model::DeviceInfo>> list_cuda_devices();

} // namespace warpwright::runner::cuda
