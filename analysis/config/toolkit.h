// Discovery of the CUDA toolkit. Thread: any.
//
// An explicit choice wins over the usual places. The toolkit is not checked beyond the presence of
// its header: the full pass reports missing files.
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
  std::string path;     ///< root folder, which holds include/cuda_runtime.h
  std::string version;  ///< "13.0"; empty if the headers do not tell
  std::string found_by; ///< "cuda_path", "CUDA_HOME", "nvcc on PATH", ...
};

/// @param preferred roots in order of preference, each with the name of its source
std::optional<Toolkit>
find_toolkit(llvm::vfs::FileSystem &files, const Environment &environment,
             const std::vector<std::pair<std::string, std::string>> &preferred = {});

} // namespace warpwright::config
