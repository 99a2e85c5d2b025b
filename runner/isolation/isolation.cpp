// The order of the layers: each is entered while what it needs is still permitted.
#include "runner/isolation/isolation.h"
#include "runner/isolation/landlock.h"
#include "runner/isolation/privileges.h"
#include "runner/isolation/system_calls.h"

#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Libraries, locales, and what says how many cores and how much memory there are.
const std::vector<fs::path> kSystem = {"/usr",
                                       "/lib",
                                       "/lib64",
                                       "/etc/ld.so.cache",
                                       "/etc/ld.so.conf",
                                       "/etc/ld.so.conf.d",
                                       "/etc/localtime",
                                       "/dev/null",
                                       "/dev/zero",
                                       "/dev/urandom",
                                       "/dev/random",
                                       "/proc/self",
                                       "/proc/cpuinfo",
                                       "/proc/meminfo",
                                       "/proc/stat",
                                       "/proc/sys/vm",
                                       "/proc/filesystems",
                                       "/sys/devices/system",
                                       "/sys/fs/cgroup"};
/// What the driver reads beyond.
const std::vector<fs::path> kDriverReads = {
    "/proc", "/sys", "/etc/nvidia", "/etc/passwd", "/etc/nsswitch.conf", "/run/nvidia", "/opt"};

std::vector<fs::path> driver_devices() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator("/dev", error))
    if (entry.path().filename().string().starts_with("nvidia"))
      found.push_back(entry.path());
  return found;
}

/// Of device files proper: folders of them need not be open.
std::vector<fs::path> without_folders(const std::vector<fs::path> &paths) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::path &path : paths)
    if (!fs::is_directory(path, error))
      files.push_back(path);
  return files;
}

/// Layers that the operator does without, because a driver does not survive them.
bool is_wanted(const std::string &layer) {
  const char *without = std::getenv("WARPWRIGHT_ISOLATION_WITHOUT");
  std::stringstream text(without ? without : "");
  for (std::string name; std::getline(text, name, ',');)
    if (name == layer)
      return false;
  return true;
}

/// The layer, or word that it was not wanted.
template <class Enter>
IsolationLayer enter_layer(const char *layer, Enter enter) {
  if (is_wanted(layer))
    return enter();
  return {layer, false, "turned off by WARPWRIGHT_ISOLATION_WITHOUT"};
}

/// Colon-separated, for drivers that need more than is known here.
std::vector<fs::path> paths_from(const char *variable) {
  std::vector<fs::path> paths;
  std::stringstream text(std::getenv(variable) ? std::getenv(variable) : "");
  for (std::string path; std::getline(text, path, ':');)
    if (!path.empty())
      paths.emplace_back(path);
  return paths;
}

/// The service's gift to this process, and from here on where temporary files go.
fs::path private_directory() {
  const char *given = std::getenv(kPrivateDirectoryVariable);
  if (given)
    setenv("TMPDIR", given, 1);
  return given ? given : "";
}

/// Where compiled code goes. The runner's user keeps its own cache closed to others, so a worker
/// that changes its user gets a folder of its own in it, and goes there by an open descriptor.
class WorkerCache {
public:
  explicit WorkerCache(const fs::path &parent) {
    std::error_code error;
    if (parent.empty())
      return;
    shared_ = parent / "warpwright";
    fs::create_directories(shared_, error);
    if (geteuid() != 0)
      return;
    own_ = shared_ / ("uid-" + std::to_string(worker_uid()));
    fs::create_directories(own_ / "warpwright", error);
    descriptor_ = ::open(own_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  }
  /// To be given to the other user.
  std::vector<fs::path> folders() const {
    return descriptor_ < 0 ? std::vector<fs::path>{} : std::vector{own_, own_ / "warpwright"};
  }
  /// When the user is the one that it will be: what the worker may write to.
  std::vector<fs::path> settle() {
    if (descriptor_ < 0)
      return shared_.empty() ? std::vector<fs::path>{} : std::vector{shared_};
    const fs::path open_folder = "/proc/self/fd/" + std::to_string(descriptor_);
    if (geteuid() != 0) {
      setenv("XDG_CACHE_HOME", open_folder.c_str(), 1);
      return {open_folder};
    }
    ::close(std::exchange(descriptor_, -1));
    return {shared_};
  }

private:
  fs::path shared_, own_;
  int descriptor_ = -1;
};

} // namespace

const char *name(WorkerKind kind) {
  switch (kind) {
  case WorkerKind::Cpu:
    return "cpu";
  case WorkerKind::Compiler:
    return "compiler";
  case WorkerKind::Cuda:
    return "cuda";
  default:
    return "python";
  }
}

const std::vector<std::string> &inherited_variables() {
  static const std::vector<std::string> names = {"PATH",
                                                 "HOME",
                                                 "USER",
                                                 "LANG",
                                                 "LC_*",
                                                 "TZ",
                                                 "TMPDIR",
                                                 "XDG_CACHE_HOME",
                                                 "VIRTUAL_ENV",
                                                 "LD_LIBRARY_PATH",
                                                 "LD_PRELOAD",
                                                 "CUDA_*",
                                                 "NVIDIA_*",
                                                 "PYTHON*",
                                                 "CONDA_PREFIX",
                                                 "TORCH*",
                                                 "PYTORCH_*",
                                                 "TRITON_*",
                                                 "OMP_NUM_THREADS",
                                                 "CC",
                                                 "CXX",
                                                 "ASAN_OPTIONS",
                                                 "UBSAN_OPTIONS",
                                                 "WARPWRIGHT_ISOLATION*",
                                                 "WARPWRIGHT_PYTHON",
                                                 "WARPWRIGHT_WORKER_*",
                                                 "WARPWRIGHT_FAKE_*",
                                                 "WARPWRIGHT_TEST_*"};
  return names;
}

Result<IsolationMode> isolation_mode() {
  const char *chosen = std::getenv("WARPWRIGHT_ISOLATION");
  const std::string mode = chosen ? chosen : "";
  if (mode.empty() || mode == "builtin")
    return IsolationMode::Builtin;
  if (mode == "bubblewrap")
    return IsolationMode::Bubblewrap;
  if (mode == "off")
    return IsolationMode::Off;
  return fail("WARPWRIGHT_ISOLATION is \"" + mode + "\"", "Set it to builtin, bubblewrap or off");
}

Result<Isolation> Isolation::enter(const Sandbox &sandbox) {
  const auto mode = isolation_mode();
  if (!mode)
    return std::unexpected(mode.error());
  Isolation isolation;
  isolation.kind_ = sandbox.kind;
  if (*mode == IsolationMode::Off) {
    isolation.off_ = true;
    isolation.layers_.push_back({"isolation", false, "turned off by WARPWRIGHT_ISOLATION"});
    return isolation;
  }
  auto &layers = isolation.layers_;
  if (std::getenv("WARPWRIGHT_IN_BUBBLEWRAP"))
    layers.push_back({"bubblewrap", true, "a read-only view of the file system, no other process"});
  const bool python = sandbox.kind == WorkerKind::Python;
  const bool driver = sandbox.kind == WorkerKind::Cuda || python;
  const std::vector<fs::path> devices =
      driver && sandbox.opens_gpu ? driver_devices() : std::vector<fs::path>{};
  const fs::path temporary = private_directory();
  WorkerCache cache(sandbox.cache);
  layers.push_back(enter_layer("limits", [&] { return set_limits(sandbox.kind); }));
  layers.push_back(enter_layer("network", leave_network));
  std::vector<fs::path> own = cache.folders();
  if (!temporary.empty())
    own.push_back(temporary);
  if (is_wanted("capabilities"))
    shrink_bounding_set();
  layers.push_back(enter_layer(
      "user", [&] { return leave_root(sandbox.readable, without_folders(devices), own); }));
  layers.push_back(enter_layer("capabilities", drop_capabilities));
  forbid_new_privileges();
  FileRules rules{.readable = kSystem, .writable = cache.settle(), .devices = devices};
  const auto add = [](std::vector<fs::path> &to, const std::vector<fs::path> &from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(rules.readable, sandbox.readable);
  add(rules.readable, paths_from("WARPWRIGHT_ISOLATION_READ"));
  add(rules.writable, paths_from("WARPWRIGHT_ISOLATION_WRITE"));
  if (!temporary.empty())
    rules.writable.push_back(temporary);
  if (driver) {
    add(rules.readable, kDriverReads);
    rules.devices.push_back("/dev/null");
    rules.writable.push_back("/proc/self"); // it truncates its threads' comm to name them
  }
  if (python) { // packages lie anywhere, and so do the compilers of torch.compile
    rules.readable = {"/"};
    rules.executable = {"/"};
    rules.devices.push_back("/dev/zero");
    rules.writable.push_back("/dev/shm"); // semaphores of the compilers' process pool
  }
  layers.push_back(enter_layer("files", [&] { return restrict_files(rules); }));
  return isolation;
}

void Isolation::seal() {
  if (off_)
    return;
  layers_.push_back(enter_layer("system calls", [&] { return filter_system_calls(kind_); }));
  if (!layers_.back().active)
    return;
  for (IsolationLayer &layer : layers_)
    if (layer.name == "network" && !layer.active)
      layer = {"network", true, "sockets other than AF_UNIX are refused; " + layer.detail};
}

json to_json(const std::vector<IsolationLayer> &layers) {
  json list = json::array();
  for (const IsolationLayer &layer : layers)
    list.push_back({{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return list;
}

} // namespace warpwright::runner
