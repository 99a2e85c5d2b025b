#include "runner/isolation/file_rules.h"

#include <cstdlib>
#include <sstream>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

/// Libraries, locales, and files that describe cores and memory.
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
/// Further paths that the driver reads.
const std::vector<fs::path> kDriverReads = {
    "/proc", "/sys", "/etc/nvidia", "/etc/passwd", "/etc/nsswitch.conf", "/run/nvidia", "/opt"};
/// Folders of programs that an interpreter starts, and Debian's links to them.
const std::vector<fs::path> kPrograms = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"};
const std::vector<fs::path> kPythonReads = {"/etc/alternatives", "/etc/group"};

void add(std::vector<fs::path> &to, const std::vector<fs::path> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<fs::path> entries(const fs::path &folder, const std::string &prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(prefix))
      found.push_back(entry.path());
  return found;
}

/// Colon-separated paths, for drivers that need more than these lists.
std::vector<fs::path> paths_from(const char *variable) {
  std::vector<fs::path> paths;
  std::stringstream text(std::getenv(variable) ? std::getenv(variable) : "");
  for (std::string path; std::getline(text, path, ':');)
    if (!path.empty())
      paths.emplace_back(path);
  return paths;
}

} // namespace

std::vector<fs::path> gpu_devices(const Sandbox &sandbox) {
  return uses_driver(sandbox.kind) && sandbox.opens_gpu ? entries("/dev", "nvidia")
                                                        : std::vector<fs::path>{};
}

std::vector<fs::path> private_directory() {
  const char *given = std::getenv(kPrivateDirectoryVariable);
  return given && *given ? std::vector<fs::path>{given} : std::vector<fs::path>{};
}

FileRules file_rules(const Sandbox &sandbox) {
  FileRules rules{.readable = kSystem,
                  .executable = {},
                  .writable = sandbox.writable,
                  .devices = gpu_devices(sandbox)};
  add(rules.readable, sandbox.readable);
  add(rules.readable, paths_from("WARPWRIGHT_ISOLATION_READ"));
  add(rules.writable, paths_from("WARPWRIGHT_ISOLATION_WRITE"));
  add(rules.writable, private_directory());
  if (!uses_driver(sandbox.kind))
    return rules;
  add(rules.readable, kDriverReads);
  add(rules.readable, paths_from("LD_LIBRARY_PATH")); // the driver's libraries may lie anywhere
  rules.devices.push_back("/dev/null");
  if (sandbox.kind == WorkerKind::Cuda)
    return rules;
  add(rules.readable, kPythonReads);
  add(rules.readable, entries("/etc", "python3"));
  for (const char *variable : {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "PYTHONPATH"})
    add(rules.executable, paths_from(variable));
  add(rules.executable, kPrograms);
  add(rules.executable, sandbox.readable); // a user's interpreter, a toolkit's compiler
  rules.devices.push_back("/dev/zero");
  rules.writable.push_back("/dev/shm"); // for semaphores of the compilers' process pool
  return rules;
}

} // namespace warpwright::runner
