// The GPU.
#include "runner/cuda/device.h"
#include "runner/cuda/sandbox.h"
#include "runner/torch/library/library_device.h"

#include <charconv>
#include <sstream>

namespace warpwright::runner {

Result<std::unique_ptr<Device>> make_library_device(const std::string &name,
                                                    cuda::CudaTorch &torch) {
  constexpr std::string_view kPrefix = "cuda:";
  int ordinal = 0;
  if (!name.starts_with(kPrefix) ||
      std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), ordinal).ec !=
          std::errc())
    return fail("no device is called " + name, "Use cuda:N");
  return cuda::make_cuda_device(ordinal, &torch);
}

std::optional<Sandbox> library_sandbox(const std::string &readable) {
  Sandbox sandbox = cuda_sandbox(WorkerKind::Python);
  std::stringstream paths(readable);
  for (std::string path; std::getline(paths, path, ':');)
    if (!path.empty())
      sandbox.readable.emplace_back(path);
  return sandbox;
}

} // namespace warpwright::runner
