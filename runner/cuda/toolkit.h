// Locations of NVRTC, CUPTI and the toolkit's headers on this machine. Thread: any.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::runner::cuda {

struct ToolkitPaths {
  std::vector<std::string> nvrtc; ///< candidates for dlopen, best first
  std::vector<std::string> cupti; ///< likewise
  std::vector<std::filesystem::path>
      include_dirs; ///< existing folders: the toolkit's include, and its cccl
};

/// Searches CUDA_HOME, CUDA_PATH, /usr/local/cuda and /opt/cuda, then pip's packages of the Python
/// interpreters in VIRTUAL_ENV and on PATH and of ~/.local. Libraries are also tried by name.
ToolkitPaths find_toolkit();

/// The runner's cache folder: $XDG_CACHE_HOME/warpwright, else ~/.cache/warpwright. Empty if
/// neither XDG_CACHE_HOME nor HOME is set.
std::filesystem::path cache_directory();

} // namespace warpwright::runner::cuda
