// Where the CUDA toolkit is. Thread: any.
//
// Looks where people put it, in the order in which an explicit choice wins over a convention.
// Leaves out checking that the toolkit works: the full pass says what it misses.
#pragma once

#include <functional>
#include <llvm/Support/VirtualFileSystem.h>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::config {

/// Value of an environment variable, or empty.
using Environment = std::function<std::string(const char *name)>;

/// The environment of this process.
Environment process_environment();

struct Toolkit {
  std::string path;     ///< its root: include/cuda_runtime.h is there
  std::string version;  ///< "13.0"; empty when the headers do not say
  std::string found_by; ///< "cuda_path", "CUDA_HOME", "nvcc on PATH", ...
};

/// @param preferred roots that were asked for, best first, each with what asked for it
std::optional<Toolkit>
find_toolkit(llvm::vfs::FileSystem &files, const Environment &environment,
             const std::vector<std::pair<std::string, std::string>> &preferred = {});

} // namespace warpwright::config
