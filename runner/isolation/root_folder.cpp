// A separate root by mount(2), pivot_root(2) and mount_setattr(2). The latter keeps flags that a
// user namespace locks. Its constants are from linux/mount.h, because Debian 12's libc has no
// wrapper.
#include "runner/isolation/root_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr long kMountSetattr = 442; // all architectures
constexpr std::uint64_t kReadOnly = 1, kNoSetUser = 2, kNoDevices = 4, kNoPrograms = 8;
constexpr unsigned kRecursive = 0x8000; // AT_RECURSIVE
constexpr int kMostLinks = 40;
/// Sizes of tmpfs, whose pages count as the worker's memory.
constexpr const char *kRootSize = "mode=755,size=4m", *kSharedSize = "mode=1777,size=256m";

struct MountAttributes {
  std::uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};

/// The real path of a path, and the links on the way to it.
struct Resolved {
  fs::path real; ///< empty: the path does not exist
  std::vector<std::pair<fs::path, fs::path>> links;
};

Resolved resolve(const fs::path &path) {
  Resolved resolved;
  fs::path rest = path.lexically_normal(), at = "/";
  std::error_code error;
  for (int links = 0; links < kMostLinks;) {
    auto part = rest.begin();
    while (part != rest.end() && (*part == "/" || part->empty() || *part == "."))
      ++part;
    if (part == rest.end()) {
      resolved.real = at;
      return resolved;
    }
    const fs::path next = *part == ".." ? at.parent_path() : at / *part;
    fs::path tail;
    for (++part; part != rest.end(); ++part)
      tail /= *part;
    if (fs::is_symlink(next, error)) {
      const fs::path target = fs::read_symlink(next, error);
      resolved.links.emplace_back(next, target);
      rest = (target.is_absolute() ? target : at / target) / tail;
      at = "/";
      ++links;
    } else if (fs::exists(next, error)) {
      rest = tail;
      at = next;
    } else {
      return resolved;
    }
  }
  return resolved;
}

bool is_within(const fs::path &path, const fs::path &folder) {
  const auto [end, rest] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

/// Paths to bind, parents before children.
struct Plan {
  std::map<fs::path, std::uint64_t> binds; ///< real path: attributes to set
  std::vector<std::pair<fs::path, fs::path>> links;

  void add(const std::vector<fs::path> &paths, std::uint64_t attributes) {
    for (const fs::path &path : paths) {
      if (!path.is_absolute() || is_within(path, "/proc"))
        continue;
      const Resolved resolved = resolve(path);
      links.insert(links.end(), resolved.links.begin(), resolved.links.end());
      if (resolved.real.empty() || resolved.real == "/" || resolved.real == "/dev/shm" ||
          is_within(resolved.real, "/proc"))
        continue;
      const bool is_device = is_within(resolved.real, "/dev");
      const auto wanted = is_device ? attributes & ~kNoDevices : attributes;
      const auto [place, is_new] = binds.try_emplace(resolved.real, wanted);
      if (!is_new)
        place->second &= wanted; // the union of what the rules allow
    }
  }
  /// Drops paths that a parent with the same attributes covers.
  void drop_covered() {
    for (auto bind = binds.begin(); bind != binds.end();) {
      bool covered = false;
      for (fs::path up = bind->first.parent_path(); up != "/"; up = up.parent_path())
        if (const auto parent = binds.find(up); parent != binds.end()) {
          covered = parent->second == bind->second;
          break;
        }
      bind = covered ? binds.erase(bind) : std::next(bind);
    }
  }
};

std::string failed(const std::string &what) { return what + ": " + std::strerror(errno); }

std::string set_attributes(const fs::path &path, std::uint64_t set, unsigned flags) {
  const MountAttributes attributes{set, 0, 0, 0};
  if (syscall(kMountSetattr, AT_FDCWD, path.c_str(), flags, &attributes, sizeof attributes) != 0)
    return failed("cannot protect " + path.string());
  return "";
}

std::string bind(const fs::path &from, const fs::path &to, std::uint64_t attributes) {
  std::error_code error;
  if (fs::is_directory(from, error)) {
    fs::create_directories(to, error);
  } else {
    fs::create_directories(to.parent_path(), error);
    if (const int file = ::open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644); file >= 0)
      ::close(file);
  }
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return failed("cannot bind " + to.string());
  return set_attributes(to, attributes, kRecursive);
}

std::string enter_proc(bool own_processes) {
  std::error_code error;
  fs::create_directory("/proc", error);
  if (!own_processes)
    return bind("/old/proc", "/proc", kNoSetUser | kNoDevices | kNoPrograms);
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return failed("cannot mount /proc");
  if (auto problem = bind("/proc/sys", "/proc/sys", kReadOnly); !problem.empty())
    return problem;
  // In a container, /proc has the container's own view of the driver.
  if (fs::exists("/old/proc/driver/nvidia", error))
    return bind("/old/proc/driver/nvidia", "/proc/driver/nvidia", kReadOnly | kNoSetUser);
  return "";
}

std::string enter_shared_memory(const FileRules &rules) {
  if (std::ranges::find(rules.writable, "/dev/shm") == rules.writable.end())
    return "";
  std::error_code error;
  fs::create_directories("/dev/shm", error);
  if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, kSharedSize) != 0)
    return failed("cannot mount /dev/shm");
  fs::create_symlink("/proc/self/fd", "/dev/fd", error); // for shells that compilers start
  return "";
}

} // namespace

std::string enter_root(const FileRules &rules, bool own_processes) {
  Plan plan;
  constexpr std::uint64_t kPlain = kNoSetUser | kNoDevices;
  plan.add(rules.readable, kPlain | kReadOnly);
  plan.add(rules.executable, kPlain | kReadOnly);
  plan.add(rules.writable, kPlain);
  plan.add(rules.devices, kNoSetUser | kNoPrograms);
  plan.drop_covered();
  umask(022);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return failed("cannot make mounts private");
  if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, kRootSize) != 0)
    return failed("cannot mount a root");
  std::error_code error;
  fs::create_directory("/tmp/old", error);
  if (syscall(SYS_pivot_root, "/tmp", "/tmp/old") != 0 || chdir("/") != 0)
    return failed("cannot change the root");
  std::string problem;
  for (const auto &[path, attributes] : plan.binds)
    if (problem = bind("/old" / path.relative_path(), path, attributes); !problem.empty())
      return problem;
  for (const auto &[link, target] : plan.links) { // a link within a bound folder already exists
    fs::create_directories(link.parent_path(), error);
    fs::create_symlink(target, link, error);
  }
  if (problem = enter_proc(own_processes); !problem.empty())
    return problem;
  if (problem = enter_shared_memory(rules); !problem.empty())
    return problem;
  if (umount2("/old", MNT_DETACH) != 0)
    return failed("cannot leave the old root");
  fs::remove("/old", error);
  fs::create_directory("/tmp", error);
  return set_attributes("/", kReadOnly, 0);
}

} // namespace warpwright::runner
