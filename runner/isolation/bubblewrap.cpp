#include "runner/isolation/bubblewrap.h"

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

bool is_chosen() {
  const auto mode = isolation_mode();
  return mode && *mode == IsolationMode::Bubblewrap;
}

} // namespace

std::vector<std::string> in_bubblewrap(const std::vector<std::string> &command,
                                       const Sandbox &sandbox,
                                       const std::optional<PrivateDirectory> &directory) {
  if (!is_chosen())
    return command;
  std::vector<std::string> whole = {"bwrap",
                                    "--die-with-parent",
                                    "--new-session",
                                    "--cap-drop",
                                    "ALL",
                                    "--unshare-net",
                                    "--unshare-ipc",
                                    "--unshare-uts",
                                    "--unshare-pid",
                                    "--dev",
                                    "/dev",
                                    "--proc",
                                    "/proc",
                                    "--setenv",
                                    "WARPWRIGHT_IN_BUBBLEWRAP",
                                    "1",
                                    "--chdir",
                                    "/"};
  const auto bind = [&](const char *how, const fs::path &path) {
    whole.insert(whole.end(), {how, path.string(), path.string()});
  };
  const bool python = sandbox.kind == WorkerKind::Python;
  if (python) // packages lie anywhere
    whole.insert(whole.begin() + 1, {"--ro-bind", "/", "/"});
  for (const char *path : {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/ld.so.conf",
                           "/etc/ld.so.conf.d", "/etc/localtime", "/etc/passwd", "/etc/nvidia",
                           "/sys", "/opt", "/run/nvidia"})
    bind("--ro-bind-try", path);
  std::error_code error;
  const fs::path executable = fs::absolute(command[0], error);
  bind("--ro-bind-try", executable);
  for (const fs::path &path : sandbox.readable)
    bind("--ro-bind-try", path);
  if (sandbox.kind == WorkerKind::Cuda || python)
    for (const fs::directory_entry &entry : fs::directory_iterator("/dev", error))
      if (entry.path().filename().string().starts_with("nvidia"))
        bind("--dev-bind-try", entry.path());
  if (directory)
    bind("--bind", directory->path());
  if (!sandbox.cache.empty()) {
    fs::create_directories(sandbox.cache / "warpwright", error);
    bind("--bind-try", sandbox.cache / "warpwright");
  }
  whole.push_back("--");
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

ExitStatus through_bubblewrap(const ExitStatus &status) {
  constexpr int kSignalBase = 128, kLastSignal = 64;
  if (is_chosen() && status.signal == 0 && status.code > kSignalBase &&
      status.code <= kSignalBase + kLastSignal)
    return {0, status.code - kSignalBase};
  return status;
}

} // namespace warpwright::runner
