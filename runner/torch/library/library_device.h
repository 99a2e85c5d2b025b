// Which device the library's worker has: a GPU in libwarpwright-worker.so; tests link one of their own. Thread: the job thread.
#pragma once

#include "runner/cuda/cuda_torch.h"

namespace warpwright::runner {

/// @param name "cuda:0"
/// @param torch outlives the device
Result<std::unique_ptr<Device>> make_library_device(const std::string &name,
                                                    cuda::CudaTorch &torch);

} // namespace warpwright::runner
