// Entry into the layers of isolation. Each layer is entered while the calls that it needs are still
// permitted. If the namespaces cannot be made, a new process tries again with fewer, because a
// partly set up process is not reused.
#include "runner/isolation/guest.h"
#include "runner/isolation/landlock.h"
#include "runner/isolation/privileges.h"
#include "runner/isolation/root_folder.h"
#include "runner/isolation/system_calls.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kProcesses = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS, kNice = 10,
              kFreezeLimitMs = 2'000;
constexpr std::size_t kLongestReport = 1 << 16;
constexpr int kMostKilled = 10;

/// Same as fork() in a process with one thread, with new namespaces.
pid_t fork_into(int namespaces) {
  return static_cast<pid_t>(syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0));
}

/// Maps the user and group to themselves in the new namespace, which has no others.
std::string map_user(uid_t uid, gid_t gid) {
  const auto write_to = [](const char *file, const std::string &text) {
    std::ofstream stream(file);
    return static_cast<bool>(stream << text << std::flush);
  };
  if (write_to("/proc/self/setgroups", "deny") &&
      write_to("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1") &&
      write_to("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1"))
    return "";
  return std::string("cannot map the user: ") + std::strerror(errno);
}

/// Sets of namespaces to try, best first; 0 always works.
std::vector<int> attempts(const Sandbox &sandbox) {
  const int network = is_wanted("network") ? CLONE_NEWNET : 0,
            view = is_wanted("view") && !sandbox.sees_all ? CLONE_NEWNS : 0,
            processes = is_wanted("processes") ? kProcesses : 0;
  std::vector<int> tried;
  for (const int flags : {network | view | processes, network | processes, network})
    if (flags != 0) {
      if (geteuid() == 0)
        tried.push_back(flags);
      tried.push_back(flags | CLONE_NEWUSER);
    }
  tried.push_back(0);
  return tried;
}

IsolationLayer layer_of(const std::string &name, bool active, const std::string &what,
                        const std::string &problem) {
  if (!is_wanted(name))
    return {name, false, "turned off by WARPWRIGHT_ISOLATION_WITHOUT"};
  return {name, active, active ? what : problem};
}

std::vector<IsolationLayer> namespace_layers(const Sandbox &sandbox, int flags,
                                             const std::string &problem) {
  const std::string why = "no separate namespace: " + problem;
  return {layer_of("processes", flags & CLONE_NEWPID,
                   "it sees no other process, and its processes end with it", why),
          layer_of("network", flags & CLONE_NEWNET, "a separate namespace, with no interface up",
                   why),
          layer_of("view", flags & CLONE_NEWNS,
                   "a separate root with only what it needs, read-only",
                   sandbox.sees_all ? "it looks for an interpreter's packages" : why)};
}

bool is_active(const std::vector<IsolationLayer> &layers, const std::string &name) {
  return std::ranges::any_of(
      layers, [&](const IsolationLayer &layer) { return layer.active && layer.name == name; });
}

/// Device files without folders, which need not be accessible.
std::vector<fs::path> without_folders(const std::vector<fs::path> &paths) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::path &path : paths)
    if (!fs::is_directory(path, error))
      files.push_back(path);
  return files;
}

/// Makes the process the first to be killed when memory is short.
void offer_to_the_killer() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

/// Unblocks the signals that the supervisor blocked for itself.
void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool report(int control, const json &document) {
  const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  return ::send(control, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

json receive_report(int control) {
  char text[kLongestReport];
  ssize_t size;
  do
    size = ::recv(control, text, sizeof text, 0);
  while (size < 0 && errno == EINTR);
  return json::parse(text, text + std::max<ssize_t>(size, 0), nullptr, false);
}

/// Enters the namespaces in a new process that was made with `flags`. Returns only in the worker;
/// the init process and failures end here.
std::vector<IsolationLayer> enter_namespaces(const Sandbox &sandbox, const FileRules &rules,
                                             int flags, const std::string &problem,
                                             const ControlGroup &group, int control, uid_t uid,
                                             gid_t gid) {
  const auto hold = [&](const std::string &why) {
    if (why.empty())
      return;
    report(control, why);
    std::_Exit(1);
  };
  auto resources = group.layer();
  resources.active &= group.join();
  offer_to_the_killer();
  if (flags & CLONE_NEWUSER)
    hold(map_user(uid, gid));
  if (flags & CLONE_NEWNS)
    hold(enter_root(rules, flags & CLONE_NEWPID));
  auto layers = namespace_layers(sandbox, flags, problem);
  layers.push_back(is_wanted("resources")
                       ? resources
                       : IsolationLayer{"resources", false,
                                        "turned off by WARPWRIGHT_ISOLATION_WITHOUT"});
  if (!report(control, to_json(layers)))
    std::_Exit(1);
  if (flags & CLONE_NEWPID) {
    const pid_t worker = fork();
    if (worker < 0)
      std::_Exit(1);
    if (worker > 0)
      serve_as_init(worker, control);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  ::close(control);
  return layers;
}

} // namespace

Forked fork_guest(const Sandbox &sandbox) {
  const FileRules rules = file_rules(sandbox);
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  const pid_t supervisor = getpid();
  std::string problem;
  Forked forked;
  if (is_wanted("resources"))
    forked.guest.group_ = ControlGroup::make(sandbox.kind);
  std::vector<int> left = attempts(sandbox);
  std::ranges::reverse(left);
  for (int killed = 0; !left.empty();) {
    const int flags = left.back();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return forked;
    const pid_t pid = fork_into(flags);
    const int reason = errno;
    if (pid == 0) {
      ::close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!(flags & CLONE_NEWPID) && getppid() != supervisor)
        std::_Exit(1);
      unblock_signals();
      forked.inside = enter_namespaces(sandbox, rules, flags, problem, forked.guest.group_, ends[1],
                                       uid, gid);
      forked.guest.group_.release();
      return forked;
    }
    ::close(ends[1]);
    const json told = pid > 0 ? receive_report(ends[0]) : json(std::strerror(reason));
    if (told.is_array()) {
      forked.guest.pid_ = pid;
      forked.guest.control_ = flags & CLONE_NEWPID ? ends[0] : (::close(ends[0]), -1);
      forked.guest.has_view_ = flags & CLONE_NEWNS;
      return forked;
    }
    ::close(ends[0]);
    int status = 0;
    if (pid > 0)
      waitpid(pid, &status, 0);
    // A kill says nothing about what the kernel permits, so the same namespaces are tried again.
    if (WIFSIGNALED(status) && ++killed < kMostKilled)
      continue;
    if (problem.empty())
      problem = told.is_string() ? told.get<std::string>() : "it ended while it was made";
    left.pop_back();
  }
  return forked;
}

Forked fork_plainly() {
  Forked forked;
  const pid_t pid = fork();
  if (pid > 0)
    forked.guest = Guest::of_child(pid);
  if (pid != 0)
    return forked;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  unblock_signals();
  forked.inside.emplace();
  return forked;
}

std::vector<IsolationLayer> settle(const Sandbox &sandbox, std::vector<IsolationLayer> layers) {
  if (sandbox.is_nice)
    setpriority(PRIO_PROCESS, 0, kNice);
  const bool has_view = is_active(layers, "view"), sees_itself = is_active(layers, "processes");
  const auto devices = gpu_devices(sandbox);
  const auto entered = [&](const char *layer, const auto &enter) {
    layers.push_back(is_wanted(layer) ? enter()
                                      : IsolationLayer{layer, false,
                                                       "turned off by WARPWRIGHT_ISOLATION_WITHOUT"});
  };
  entered("limits", [&] {
    return set_limits(sandbox.kind, !uses_driver(sandbox.kind) || devices.empty());
  });
  if (is_wanted("capabilities"))
    shrink_bounding_set();
  entered("user", [&]() -> IsolationLayer {
    if (sandbox.sees_all)
      return {"user", geteuid() != 0, "it stays the runner's user"};
    // Without its own root, a candidate's folder lies in one that only the worker's user can
    // access.
    const bool apart = sandbox.kind == WorkerKind::Candidate && has_view;
    return leave_root(apart ? candidate_uid() : worker_uid(), sandbox.readable,
                      without_folders(devices), private_directory());
  });
  entered("capabilities", drop_capabilities);
  forbid_new_privileges();
  FileRules rules = file_rules(sandbox);
  for (const fs::path &folder : private_directory())
    setenv("TMPDIR", folder.c_str(), 1);
  // The driver opens its threads' comm files with truncation to name them.
  if (uses_driver(sandbox.kind))
    rules.writable.push_back(has_view && sees_itself ? "/proc" : "/proc/self");
  if (sandbox.sees_all)
    rules.readable = rules.executable = {"/"};
  entered("files", [&] { return restrict_files(rules); });
  const auto part = sandbox.seals_later ? FilterPart::ForStart : FilterPart::Whole;
  if (uses_driver(sandbox.kind)) {
    entered("system calls", [&] { return filter_system_calls(sandbox.kind, part); });
    add_filter(layers, layers.back());
  }
  return layers;
}

Guest Guest::of_child(pid_t pid) {
  Guest guest;
  guest.pid_ = pid;
  return guest;
}

Guest &Guest::operator=(Guest &&other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(control_, other.control_);
  std::swap(has_view_, other.has_view_);
  std::swap(group_, other.group_);
  std::swap(status_, other.status_);
  return *this;
}

Guest::~Guest() { end(); }

std::optional<int> Guest::poll() {
  int status = 0;
  if (status_ || pid_ <= 0)
    return status_;
  if (control_ >= 0 && ::recv(control_, &status, sizeof status, MSG_DONTWAIT) == sizeof status)
    status_ = status;
  else if (waitpid(pid_, &status, WNOHANG) == pid_)
    status_ = status, pid_ = -1;
  return status_;
}

std::optional<int> Guest::poll_for(int limit_ms) {
  pollfd told{control_, POLLIN, 0};
  if (!poll() && control_ >= 0)
    ::poll(&told, 1, limit_ms);
  return poll();
}

int Guest::wait() {
  while (!poll()) {
    pollfd told{control_, POLLIN, 0};
    if (control_ >= 0)
      ::poll(&told, 1, -1);
    int status = 0;
    if (control_ < 0 && waitpid(pid_, &status, 0) == pid_)
      status_ = status, pid_ = -1;
  }
  return *status_;
}

int Guest::end() {
  poll(); // keeps the status of a process that has just ended by itself
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (!status_)
      status_ = status;
    pid_ = -1;
  }
  if (control_ >= 0)
    ::close(std::exchange(control_, -1));
  group_.end();
  return status_.value_or(SIGKILL);
}

Guest::Freezing Guest::freeze(bool wanted) {
  if (poll() || pid_ <= 0)
    return {};
  if (group_.freeze(wanted))
    return {"cgroup", false};
  if (control_ < 0)
    return {};
  const char order = static_cast<char>(wanted ? InitOrder::Freeze : InitOrder::Thaw);
  char answer[sizeof(int)] = "";
  pollfd told{control_, POLLIN, 0};
  if (::send(control_, &order, 1, MSG_NOSIGNAL) != 1 || ::poll(&told, 1, kFreezeLimitMs) != 1)
    return {};
  const ssize_t size = ::recv(control_, answer, sizeof answer, 0);
  if (size == sizeof(int)) { // the process has ended meanwhile
    int status = 0;
    std::memcpy(&status, answer, sizeof status);
    status_ = status;
    return {};
  }
  if (size != 1 || answer[0] == 'n')
    return {};
  return {"signals", answer[0] == 'w'};
}

} // namespace warpwright::runner
