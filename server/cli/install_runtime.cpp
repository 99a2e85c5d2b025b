// `warpwright install-runtime`: installs the package warpwright_runtime into a Python with pip. The
// wheel lies beside the programs.
#include "server/cli/commands.h"

#include "support/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <unistd.h>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

/// Finds the wheel in an installed package (lib/warpwright and share/warpwright), an editor's
/// extension or a build folder.
std::optional<fs::path> find_wheel() {
  std::error_code error;
  const fs::path programs = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char *place : {"../../share/warpwright", "../share/warpwright", "../share"})
    for (const auto &entry : fs::directory_iterator(programs / place, error))
      if (entry.path().extension() == ".whl" &&
          entry.path().filename().string().starts_with("warpwright_runtime-"))
        return fs::weakly_canonical(entry.path());
  return std::nullopt;
}

int fail_with(const Error &error) {
  std::cerr << "warpwright: " << describe(error) << '\n';
  return kFailed;
}

} // namespace

int run_install_runtime(const InstallRuntimeOptions &options) {
  const auto wheel = find_wheel();
  if (!wheel)
    return fail_with({"the package warpwright-runtime is not beside this program",
                          "Install Warpwright from its packages, or build the target warpwright_runtime_wheel"});
  const char *chosen = std::getenv("WARPWRIGHT_PYTHON");
  const std::string python = !options.python.empty() ? options.python : chosen && *chosen ? chosen : "python3";
  std::cout << python << " -m pip install " << wheel->string() << std::endl;
  execlp(python.c_str(), python.c_str(), "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall",
         wheel->c_str(), static_cast<char *>(nullptr));
  return fail_with({"cannot start " + python + ": " + std::strerror(errno), "Name a Python with --python"});
}

} // namespace warpwright::cli
