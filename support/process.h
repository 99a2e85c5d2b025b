// Child process with its standard streams as pipes: workers, runners, policies, tests.
//
// The destructor kills and reaps the child. The child dies with the thread that started it
// (PR_SET_PDEATHSIG) and inherits only the descriptors of its three streams. Thread: one at a time.
#pragma once

#include "support/error.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace warpwright {

struct ProcessOptions {
  std::vector<std::string> environment; ///< "NAME=value", added to the parent's or replacing them
  /// Names of the parent's variables that the child gets, or prefixes such as "CUDA_*"; empty: all.
  std::vector<std::string> inherited;
  std::string working_directory; ///< empty: the parent's
  bool pipe_stderr = false;      ///< false: the child's stderr is the parent's
  bool ignores_interrupt = false; ///< Ctrl-C on the terminal does not end the child
  /// Signal that the child gets when the thread that started it ends, as in a crash.
  int signal_at_our_end = SIGKILL;
};

struct ExitStatus {
  int code = 0;   ///< exit code when `signal` is 0
  int signal = 0; ///< the signal that ended it, else 0
};

class Process {
public:
  /// Errors: an executable that cannot be started, with the reason.
  static Result<Process> spawn(const std::vector<std::string> &command,
                               const ProcessOptions &options = {});
  Process(Process &&other) noexcept;
  Process &operator=(Process &&other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  /// The descriptors of the child's stdin, stdout and (when piped) stderr; released to the caller, -1 after.
  int release_stdin();
  int release_stdout();
  int release_stderr();
  /// The status if the child has ended; does not block.
  std::optional<ExitStatus> poll();
  ExitStatus wait();
  void kill(int signal);

private:
  Process() = default;
  pid_t pid_ = -1;
  int stdin_ = -1, stdout_ = -1, stderr_ = -1;
  std::optional<ExitStatus> status_;
};

struct CapturedRun {
  ExitStatus status;
  std::string output, errors; ///< stdout, stderr
};

/// Runs a command to its end and captures both streams; kills it after `timeout`.
/// Errors: cannot start; timed out.
Result<CapturedRun> run_captured(const std::vector<std::string> &command, const std::string &input,
                                 std::chrono::milliseconds timeout,
                                 const ProcessOptions &options = {});

} // namespace warpwright
