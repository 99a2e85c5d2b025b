// Toolkit discovery, in order: the preferred roots, CUDA_HOME, CUDA_PATH, the nvcc on PATH,
// /usr/local/cuda, /opt/cuda, /usr/lib/cuda, /usr. Thread: any.
#include "analysis/config/toolkit.h"

#include <charconv>
#include <cstdlib>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

namespace warpwright::config {
namespace {

/// CUDART_VERSION is 1000 * major + 10 * minor (cuda_runtime_api.h).
std::string version_of(llvm::vfs::FileSystem &files, const std::string &root) {
  const auto header = files.getBufferForFile(root + "/include/cuda_runtime_api.h");
  if (!header)
    return {};
  constexpr llvm::StringRef kDefine = "#define CUDART_VERSION";
  const llvm::StringRef text = (*header)->getBuffer();
  const std::size_t place = text.find(kDefine);
  if (place == llvm::StringRef::npos)
    return {};
  int version = 0;
  if (text.substr(place + kDefine.size()).ltrim().consumeInteger(10, version))
    return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool is_toolkit(llvm::vfs::FileSystem &files, const std::string &root) {
  return !root.empty() && files.exists(root + "/include/cuda_runtime.h");
}

/// Follows links, because distributions put a link to nvcc into /usr/bin.
std::string root_of_nvcc(llvm::vfs::FileSystem &files, const std::string &path_variable) {
  llvm::SmallVector<llvm::StringRef, 16> folders;
  llvm::StringRef(path_variable).split(folders, ':', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef folder : folders) {
    const std::string nvcc = (folder + "/nvcc").str();
    if (!files.exists(nvcc))
      continue;
    llvm::SmallString<128> real;
    if (files.getRealPath(nvcc, real))
      real = nvcc;
    return llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str();
  }
  return {};
}

} // namespace

Environment process_environment() {
  return [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
}

std::optional<Toolkit>
find_toolkit(llvm::vfs::FileSystem &files, const Environment &environment,
             const std::vector<std::pair<std::string, std::string>> &preferred) {
  std::vector<std::pair<std::string, std::string>> candidates = preferred;
  candidates.emplace_back(environment("CUDA_HOME"), "CUDA_HOME");
  candidates.emplace_back(environment("CUDA_PATH"), "CUDA_PATH");
  candidates.emplace_back(root_of_nvcc(files, environment("PATH")), "nvcc on PATH");
  for (const char *usual : {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda", "/usr"})
    candidates.emplace_back(usual, usual);
  for (const auto &[root, found_by] : candidates)
    if (is_toolkit(files, root))
      return Toolkit{root, version_of(files, root), found_by};
  return std::nullopt;
}

} // namespace warpwright::config
