// Implementation of cuda_sandbox().
#include "runner/cuda/sandbox.h"
#include "runner/cuda/toolkit.h"

namespace warpwright::runner {

namespace fs = std::filesystem;

Sandbox cuda_sandbox(WorkerKind kind) {
  Sandbox sandbox{.kind = kind, .seals_later = kind == WorkerKind::Cuda};
  const cuda::ToolkitPaths toolkit = cuda::find_toolkit();
  for (const std::string &library : toolkit.nvrtc) // the folder also has libnvrtc-builtins
    if (fs::path(library).is_absolute())
      sandbox.readable.push_back(fs::path(library).parent_path());
  for (const fs::path &include : toolkit.include_dirs)
    sandbox.readable.push_back(include);
  return sandbox;
}

} // namespace warpwright::runner
