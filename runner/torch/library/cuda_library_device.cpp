// make_library_device() for GPUs.
#include "runner/cuda/device.h"
#include "runner/torch/library/library_device.h"
#include "runner/worker/service_cache.h"

#include <charconv>

namespace warpwright::runner {

Result<std::unique_ptr<Device>> make_library_device(const std::string &name,
                                                    cuda::CudaTorch &torch) {
  constexpr std::string_view kPrefix = "cuda:";
  int ordinal = 0;
  if (!name.starts_with(kPrefix) ||
      std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), ordinal).ec !=
          std::errc())
    return fail("there is no device " + name, "Use cuda:N");
  return cuda::make_cuda_device(ordinal, &torch, std::make_shared<ServiceCache>());
}

} // namespace warpwright::runner
