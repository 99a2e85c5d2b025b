// Control groups by files of cgroup v2 (kernel documentation, admin-guide/cgroup-v2).
#include "runner/isolation/control_group.h"
#include "runner/isolation/privileges.h"
#include "support/files.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr const char *kRunnerGroup = "warpwright-runner";
const std::string kPrefix = "warpwright-"; // followed by the supervisor's process id
constexpr std::chrono::milliseconds kFreezeLimit{1'000}, kEndLimit{2'000}, kLook{1};

bool write_text(const fs::path &file, const std::string &text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  const bool written =
      ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  return written;
}

/// This process's group in the mounted cgroup2 hierarchy; empty: none.
fs::path own_group() {
  std::ifstream mounts("/proc/self/mountinfo"), groups("/proc/self/cgroup");
  fs::path mount;
  for (std::string line; std::getline(mounts, line);)
    if (line.find(" - cgroup2 ") != std::string::npos) {
      std::istringstream fields(line);
      std::string skipped, place;
      fields >> skipped >> skipped >> skipped >> skipped >> place;
      mount = place;
    }
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::") && !mount.empty())
      return (mount / fs::path(line.substr(3)).relative_path()).lexically_normal();
  return {};
}

/// The group in which a runner makes its groups.
fs::path parent_group() {
  const fs::path own = own_group();
  return own.filename() == kRunnerGroup ? own.parent_path() : own;
}

bool has(const fs::path &group, const char *file, const std::string &controller) {
  std::istringstream words(read_file(group / file).value_or(""));
  for (std::string word; words >> word;)
    if (word == controller)
      return true;
  return false;
}

} // namespace

void delegate_control_group() {
  const fs::path group = own_group();
  std::error_code error;
  if (group.empty() || group.filename() == kRunnerGroup ||
      read_file(group / "cgroup.procs").value_or("") != std::to_string(getpid()) + "\n" ||
      !has(group, "cgroup.controllers", "memory"))
    return;
  fs::create_directory(group / kRunnerGroup, error);
  if (write_text(group / kRunnerGroup / "cgroup.procs", "0"))
    for (const char *controller : {"+memory", "+pids"})
      write_text(group / "cgroup.subtree_control", controller);
}

ControlGroup ControlGroup::make(WorkerKind kind) {
  static int made = 0; // only one thread makes groups
  ControlGroup group;
  const fs::path parent = parent_group();
  if (parent.empty())
    return group;
  const fs::path path = parent / (kPrefix + std::to_string(getpid()) + "-" +
                                  std::to_string(++made) + "-" + name(kind));
  std::error_code error;
  if (!fs::create_directory(path, error)) {
    group.detail_ = "cannot make a group in " + parent.string() + ": " + error.message();
    return group;
  }
  group.path_ = path;
  group.detail_ = "cgroup v2: frozen and killed as one";
  const auto limit = [&](const char *controller, const char *file, const std::string &value) {
    const bool held = has(parent, "cgroup.subtree_control", controller) &&
                      write_text(path / file, value);
    group.detail_ += held ? std::string(", ") + file + " " + value
                          : std::string(", no limit of ") + controller + " (not delegated)";
  };
  limit("memory", "memory.max", std::to_string(memory_limit(kind)));
  limit("pids", "pids.max", std::to_string(kMostProcesses));
  write_text(path / "memory.swap.max", "0");
  write_text(path / "memory.oom.group", "1");
  return group;
}

void ControlGroup::remove_leftovers() {
  std::error_code error;
  const fs::path parent = parent_group();
  if (parent.empty())
    return;
  for (const fs::directory_entry &entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    int pid = 0;
    if (name.starts_with(kPrefix) &&
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), pid).ec ==
            std::errc() &&
        pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
      fs::remove(entry.path(), error); // the kernel refuses while the group has a process
  }
}

ControlGroup &ControlGroup::operator=(ControlGroup &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(detail_, other.detail_);
  return *this;
}

bool ControlGroup::join() const {
  return is_made() && write_text(path_ / "cgroup.procs", "0");
}

bool ControlGroup::freeze(bool wanted) const {
  if (!is_made() || !write_text(path_ / "cgroup.freeze", wanted ? "1" : "0"))
    return false;
  const int events = ::open((path_ / "cgroup.events").c_str(), O_RDONLY | O_CLOEXEC);
  const std::string state = wanted ? "frozen 1" : "frozen 0";
  const auto deadline = std::chrono::steady_clock::now() + kFreezeLimit;
  bool reached = false;
  while (events >= 0 && !reached && std::chrono::steady_clock::now() < deadline) {
    char text[256];
    const ssize_t count = ::pread(events, text, sizeof text, 0);
    reached = count > 0 && std::string_view(text, static_cast<std::size_t>(count)).find(state) !=
                               std::string_view::npos;
    pollfd change{events, POLLPRI, 0};
    if (!reached)
      ::poll(&change, 1, static_cast<int>(kLook.count()));
  }
  if (events >= 0)
    ::close(events);
  return reached;
}

void ControlGroup::end() {
  if (!is_made())
    return;
  write_text(path_ / "cgroup.kill", "1"); // Linux 5.14 and later
  std::error_code error;
  // Processes leave the group while they end.
  for (const auto end = std::chrono::steady_clock::now() + kEndLimit;
       !fs::remove(path_, error) && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(kLook);
  path_.clear();
}

IsolationLayer ControlGroup::layer() const { return {"resources", is_made(), detail_}; }

} // namespace warpwright::runner
