#include "runner/isolation/init_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <set>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utility>
#include <unistd.h>

namespace warpwright::runner {
namespace {

int children_descriptor() {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, nullptr);
  return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

void send(int control, const void *bytes, std::size_t size) {
  [[maybe_unused]] const auto sent = ::send(control, bytes, size, MSG_NOSIGNAL);
}

class Init {
public:
  Init(pid_t worker, int control) : worker_(worker), control_(control) {}

  /// Reaps children; exits when the worker has ended.
  void reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WCONTINUED)) > 0;) {
      if (pid == worker_ && WIFCONTINUED(status)) {
        woken_ = true;
      } else if (pid == worker_) {
        send(control_, &status, sizeof status);
        std::_Exit(0);
      }
    }
  }

  void freeze() {
    woken_ = false;
    frozen_ = true;
    ::kill(-1, SIGSTOP); // all other processes of the namespace at once
    int status = 0;
    pid_t pid;
    do
      pid = waitpid(worker_, &status, WUNTRACED);
    while (pid < 0 && errno == EINTR);
    if (pid == worker_ && !WIFSTOPPED(status)) {
      send(control_, "n", 1);
      send(control_, &status, sizeof status);
      std::_Exit(0);
    }
    send(control_, "y", 1);
  }

  void thaw() {
    reap();
    if (!std::exchange(frozen_, false))
      return send(control_, "y", 1);
    send(control_, woken_ ? "w" : "y", 1);
    ::kill(-1, SIGCONT);
    if (std::exchange(woken_, false))
      return; // the worker already runs, so no change follows
    int status = 0; // consume the change, or reap() would count it as another process's doing
    pid_t pid;
    do
      pid = waitpid(worker_, &status, WCONTINUED);
    while (pid < 0 && errno == EINTR);
    if (pid == worker_ && !WIFCONTINUED(status)) {
      send(control_, &status, sizeof status);
      std::_Exit(0);
    }
  }

private:
  pid_t worker_;
  int control_;
  bool woken_ = false, frozen_ = false;
};

/// Process and parent ids of all processes, from /proc.
std::vector<std::pair<pid_t, pid_t>> parents() {
  std::vector<std::pair<pid_t, pid_t>> found;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (pid <= 0 || !std::getline(file, text))
      continue;
    const auto name_end = text.rfind(')');
    if (name_end != std::string::npos && name_end + 4 < text.size())
      found.emplace_back(pid, std::atoi(text.c_str() + name_end + 4));
  }
  return found;
}

} // namespace

void close_all_but(const std::vector<int> &kept) {
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, 0);
  ::dup2(nothing, 1);
  close_others(kept);
}

void close_others(const std::vector<int> &kept) {
  unsigned from = 3;
  std::set<int> ordered(kept.begin(), kept.end());
  for (const int descriptor : ordered) {
    if (descriptor < 3)
      continue;
    if (static_cast<unsigned>(descriptor) > from)
      syscall(SYS_close_range, from, static_cast<unsigned>(descriptor) - 1, 0u);
    from = static_cast<unsigned>(descriptor) + 1;
  }
  syscall(SYS_close_range, from, ~0u, 0u);
}

void serve_as_init(pid_t worker, int control) {
  const int children = children_descriptor();
  close_all_but({control, children});
  Init init(worker, control);
  init.reap(); // processes that ended before the signal was watched
  for (;;) {
    pollfd wanted[] = {{control, POLLIN, 0}, {children, POLLIN, 0}};
    if (::poll(wanted, 2, -1) < 0 && errno != EINTR)
      std::_Exit(1);
    signalfd_siginfo ignored;
    while (::read(children, &ignored, sizeof ignored) > 0) {
    }
    init.reap();
    if (!(wanted[0].revents & (POLLIN | POLLHUP | POLLERR)))
      continue;
    char order = 0;
    const ssize_t count = ::recv(control, &order, 1, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
      std::_Exit(1); // the supervisor has ended
    if (count == 1 && order == static_cast<char>(InitOrder::Freeze))
      init.freeze();
    else if (count == 1 && order == static_cast<char>(InitOrder::Thaw))
      init.thaw();
  }
}

void kill_descendants() {
  for (;;) {
    std::set<pid_t> all = {getpid()};
    const auto known = parents();
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto &[pid, parent] : known)
        if (all.contains(parent))
          grew |= all.insert(pid).second;
    }
    all.erase(getpid());
    // A process forked between the two signals is found in the next round; stopped processes cannot
    // fork.
    for (const int signal : {SIGSTOP, SIGKILL})
      for (const pid_t pid : all)
        ::kill(pid, signal);
    pid_t ended;
    do
      ended = waitpid(-1, nullptr, WNOHANG);
    while (ended > 0);
    if (ended < 0)
      return; // no child, so no descendant
    const timespec moment{0, 1'000'000}; // time for the killed processes to end
    nanosleep(&moment, nullptr);
  }
}

} // namespace warpwright::runner
