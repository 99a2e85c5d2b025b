// Search for NVRTC, CUPTI and the headers. Layouts of pip's packages: nvidia/cu13/{lib,include}
// since CUDA 13, before that nvidia/cuda_nvrtc/lib and nvidia/cuda_runtime/include.
#include "runner/cuda/toolkit.h"

#include <cstdlib>
#include <sstream>

namespace warpwright::runner::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char *kNvrtcNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
#ifdef __x86_64__
constexpr const char *kTargetLibraries = "targets/x86_64-linux/lib";
constexpr const char *kTargetInclude = "targets/x86_64-linux/include";
#else
constexpr const char *kTargetLibraries = "targets/sbsa-linux/lib";
constexpr const char *kTargetInclude = "targets/sbsa-linux/include";
#endif
constexpr const char *kCuptiNames[] = {"libcupti.so.13", "libcupti.so.12"};

std::vector<fs::path> python_packages() {
  std::vector<fs::path> found;
  std::vector<fs::path> prefixes;
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    prefixes.emplace_back(environment);
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');) {
    std::error_code error;
    if (fs::exists(fs::path(directory) / "python3", error))
      prefixes.push_back(fs::path(directory).parent_path());
  }
  if (const char *home = std::getenv("HOME"))
    prefixes.push_back(fs::path(home) / ".local");
  for (const fs::path &prefix : prefixes) {
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(prefix / "lib", error))
      if (entry.path().filename().string().starts_with("python3"))
        for (const char *name : {"site-packages", "dist-packages"})
          if (fs::is_directory(entry.path() / name / "nvidia", error))
            found.push_back(entry.path() / name / "nvidia");
  }
  return found;
}

void add_include(ToolkitPaths &paths, const fs::path &directory) {
  std::error_code error;
  if (!fs::exists(directory / "cuda_fp16.h", error))
    return;
  paths.include_dirs.push_back(directory);
  if (fs::is_directory(directory / "cccl", error))
    paths.include_dirs.push_back(directory / "cccl");
}

void add_libraries(ToolkitPaths &paths, const fs::path &directory) {
  std::error_code error;
  for (const char *name : kNvrtcNames)
    if (fs::exists(directory / name, error))
      paths.nvrtc.push_back((directory / name).string());
  for (const char *name : kCuptiNames)
    if (fs::exists(directory / name, error))
      paths.cupti.push_back((directory / name).string());
}

} // namespace

fs::path cache_directory() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return fs::path(cache) / "warpwright";
  if (const char *home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "warpwright";
  return {};
}

ToolkitPaths find_toolkit() {
  ToolkitPaths paths;
  std::vector<fs::path> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable); value && *value)
      roots.emplace_back(value);
  roots.insert(roots.end(), {"/usr/local/cuda", "/opt/cuda"});
  for (const fs::path &root : roots) {
    for (const char *library : {"lib64", "lib", kTargetLibraries, "extras/CUPTI/lib64"})
      add_libraries(paths, root / library);
    for (const char *include : {"include", kTargetInclude})
      if (paths.include_dirs.empty())
        add_include(paths, root / include);
  }
  for (const fs::path &package : python_packages()) {
    for (const char *library : {"cu13/lib", "cuda_nvrtc/lib", "cuda_cupti/lib"})
      add_libraries(paths, package / library);
    for (const char *include : {"cu13/include", "cuda_runtime/include"})
      if (paths.include_dirs.empty())
        add_include(paths, package / include);
  }
  for (const char *name : kNvrtcNames) // for LD_LIBRARY_PATH and ld.so.cache
    paths.nvrtc.emplace_back(name);
  for (const char *name : kCuptiNames)
    paths.cupti.emplace_back(name);
  return paths;
}

} // namespace warpwright::runner::cuda
