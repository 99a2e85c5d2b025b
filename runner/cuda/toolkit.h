// Where this machine keeps NVRTC and the toolkit's headers. Thread: any.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::runner::cuda {

struct ToolkitPaths {
  std::vector<std::string> nvrtc; ///< candidates for dlopen, best first
  std::vector<std::string> cupti; ///< likewise
  std::vector<std::filesystem::path>
      include_dirs; ///< that exist: the toolkit's include, and its cccl
};

/// CUDA_HOME, CUDA_PATH, /usr/local/cuda, /opt/cuda, then pip's packages beside each python3 on
/// PATH.
ToolkitPaths find_toolkit();

/// Where the runner keeps what it need not do twice: $XDG_CACHE_HOME/warpwright, else ~/.cache/warpwright; empty when neither is set.
std::filesystem::path cache_directory();

} // namespace warpwright::runner::cuda
