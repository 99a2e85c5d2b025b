// Factory of the device of the library's worker: a GPU in libwarpwright-worker.so; tests link their
// own definition. Thread: the job thread.
#pragma once

#include "runner/cuda/cuda_torch.h"

namespace warpwright::runner {

/// @param name such as "cuda:0"
/// @param torch must outlive the device
Result<std::unique_ptr<Device>> make_library_device(const std::string &name,
                                                    cuda::CudaTorch &torch);

} // namespace warpwright::runner
