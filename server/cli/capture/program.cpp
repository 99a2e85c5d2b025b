// Implementation of run_program, by posix_spawn.
#include "server/cli/capture/program.h"

#include "support/process_texts.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warpwright::cli {
namespace {

volatile pid_t running = 0; ///< for the signal handler

void pass_on(int signal) {
  const int kept = errno;
  if (running > 0)
    ::kill(running, signal);
  errno = kept;
}

/// Handlers of signals while a program runs. A terminal sends SIGINT and SIGQUIT to the whole
/// group, so the program gets them without us.
class Signals {
public:
  Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) // as nohup does, for the program too
        continue;
      struct sigaction action{};
      action.sa_handler = i < kIgnored ? SIG_IGN : pass_on;
      action.sa_flags = SA_RESTART;
      ::sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  /// Signals that we ignore and the program does not.
  sigset_t defaults() const {
    sigset_t set;
    sigemptyset(&set);
    for (std::size_t i = 0; i < kIgnored; ++i)
      if (before_[i].sa_handler != SIG_IGN)
        sigaddset(&set, kSignals[i]);
    return set;
  }

private:
  static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  static constexpr std::size_t kIgnored = 2; ///< the first ones
  std::array<struct sigaction, kSignals.size()> before_{};
};

} // namespace

Result<int> run_program(const std::vector<std::string> &command,
                        const std::vector<std::string> &environment, bool quiet) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = merged_environment({.environment = environment});
  const Signals signals;
  const sigset_t defaults = signals.defaults();
  // A signal that comes before the pid is known waits for it.
  sigset_t passed, before;
  sigemptyset(&passed);
  sigaddset(&passed, SIGTERM);
  sigaddset(&passed, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &passed, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &before);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (quiet) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, command[0].c_str(), &files, &attributes,
                                 pointers_to(arguments).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  running = error == 0 ? pid : 0;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    return fail("cannot start " + command[0] + ": " + std::strerror(error),
                "Name a program that can be run, after --");
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace warpwright::cli
