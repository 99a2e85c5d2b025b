#include "runner/isolation/privileges.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;
constexpr int kLastCapability = 63; ///< higher than the last one of any kernel
constexpr rlim_t kMegabyte = rlim_t{1} << 20;

/// Whether a user who is neither owner nor in the file's group has this access to it.
bool open_to_others(const fs::path &path, mode_t wanted) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & wanted) == wanted;
}

bool reachable_by_others(const fs::path &path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error)
    return true; // a path that does not exist need not be readable
  for (fs::path folder = real.parent_path();; folder = folder.parent_path()) {
    if (!open_to_others(folder, S_IXOTH))
      return false;
    if (folder == folder.parent_path())
      break;
  }
  return open_to_others(real, fs::is_directory(real, error) ? S_IROTH | S_IXOTH : S_IROTH);
}

bool set_limit(int which, rlim_t value) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(which), &limit);
  limit.rlim_max = std::min(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(static_cast<__rlimit_resource_t>(which), &limit) == 0;
}

/// Sets a limit that the process may raise again, because memory shared with a child process is a
/// file and counts too.
bool set_soft_limit(int which, rlim_t value) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(which), &limit);
  limit.rlim_cur = std::min(limit.rlim_max, value);
  return setrlimit(static_cast<__rlimit_resource_t>(which), &limit) == 0;
}

std::string reason() { return std::strerror(errno); }

} // namespace

std::size_t memory_limit(WorkerKind kind) {
  if (const char *chosen = std::getenv("WARPWRIGHT_WORKER_MEMORY_MB"))
    if (const long megabytes = std::atol(chosen); megabytes > 0)
      return static_cast<std::size_t>(megabytes) * kMegabyte;
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE)) / 4 *
         (kind == WorkerKind::Compiler ? 1 : 3);
}

uid_t worker_uid() {
  uid_t uid = 0;
  const char *chosen = std::getenv("WARPWRIGHT_WORKER_UID");
  if (chosen)
    std::from_chars(chosen, chosen + std::strlen(chosen), uid);
  return uid ? uid : kNobody;
}

uid_t candidate_uid() { return worker_uid() - 1; }

IsolationLayer leave_root(uid_t uid, const std::vector<fs::path> &must_reach,
                          const std::vector<fs::path> &devices, const std::vector<fs::path> &own) {
  const auto stays = [](const std::string &why) {
    return IsolationLayer{"user", false, "stays root: " + why};
  };
  if (geteuid() != 0)
    return {"user", true, "started as user " + std::to_string(geteuid())};
  for (const fs::path &device : devices)
    if (!open_to_others(device, S_IROTH | S_IWOTH))
      return stays(device.string() + " is not open to other users");
  for (const fs::path &path : must_reach)
    if (!reachable_by_others(path))
      return stays(path.string() + " cannot be read by other users");
  for (const fs::path &path : own)
    if (::lchown(path.c_str(), uid, uid) != 0)
      return stays("cannot give " + path.string() + " to user " + std::to_string(uid) + ": " +
                   reason());
  // setresuid comes last, because nothing can be changed after it.
  if (setgroups(0, nullptr) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
    return stays("becoming user " + std::to_string(uid) + ": " + reason());
  prctl(PR_SET_PDEATHSIG, SIGKILL); // a change of user clears this setting
  return {"user", true, "user " + std::to_string(uid) + " in place of root"};
}

void shrink_bounding_set() {
  for (int capability = 0; capability <= kLastCapability; ++capability)
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

IsolationLayer drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (syscall(SYS_capset, &header, none) != 0)
    return {"capabilities", false, "capset: " + reason()};
  return {"capabilities", true, "none, and none to be gained"};
}

void forbid_new_privileges() { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

IsolationLayer set_limits(WorkerKind kind, [[maybe_unused]] bool holds_memory) {
  bool set = set_limit(RLIMIT_CORE, 0);
  set &= set_limit(RLIMIT_NOFILE, uses_driver(kind) ? 8192 : 512);
  // Without a limit from the shell, endless recursion would use all memory for the stack.
  set &= set_limit(RLIMIT_STACK, 8 * kMegabyte);
  // Counts all threads of this user in its user namespace, including other containers that share
  // it.
  set &= set_limit(RLIMIT_NPROC, kMostProcesses);
  set &= starts_programs(kind) ? set_soft_limit(RLIMIT_FSIZE, 1024 * kMegabyte)
                               : set_limit(RLIMIT_FSIZE, 1024 * kMegabyte);
  std::string detail = "no core dumps, few files, " + std::to_string(kMostProcesses) + " threads";
#if !defined(__SANITIZE_ADDRESS__)
  // CUDA and AddressSanitizer map more memory than exists.
  if (holds_memory) {
    set &= set_limit(RLIMIT_DATA, memory_limit(kind));
    detail += ", " + std::to_string(memory_limit(kind) / kMegabyte) + " MB of memory a process";
  }
#endif
  return {"limits", set, set ? detail : "some limits were refused"};
}

} // namespace warpwright::runner
