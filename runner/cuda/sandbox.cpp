// Where NVRTC, its headers and the cache are.
#include "runner/cuda/sandbox.h"
#include "runner/cuda/compile_cache.h"
#include "runner/cuda/toolkit.h"

namespace warpwright::runner {

namespace fs = std::filesystem;

Sandbox cuda_sandbox(WorkerKind kind) {
  Sandbox sandbox{.kind = kind, .readable = {}, .cache = cuda::cache_directory().parent_path()};
  const cuda::ToolkitPaths toolkit = cuda::find_toolkit();
  for (const std::string &library : toolkit.nvrtc) // with libnvrtc-builtins beside it
    if (fs::path(library).is_absolute())
      sandbox.readable.push_back(fs::path(library).parent_path());
  for (const fs::path &include : toolkit.include_dirs)
    sandbox.readable.push_back(include);
  std::error_code error;
  for (fs::path &path : sandbox.readable) // what a link points to is what is opened
    if (const fs::path real = fs::canonical(path, error); !error)
      path = real;
  return sandbox;
}

} // namespace warpwright::runner
