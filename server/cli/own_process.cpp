// fork(), a pipe for the answer, and SIGKILL at the deadline; see own_process.h.
#include "server/cli/own_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warpwright::cli {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void answer(int pipe, const ProcessLimits &limits,
                         const std::function<std::string()> &work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0}, memory{limits.memory_bytes, limits.memory_bytes};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_DATA, &memory);
  try {
    const std::string text = work();
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t count = ::write(pipe, rest.data(), rest.size());
      if (count < 0 && errno != EINTR)
        ::_exit(1);
      rest.remove_prefix(count < 0 ? 0 : std::size_t(count));
    }
    ::_exit(0);
  } catch (const std::exception &) { // exit code 1: out of memory, no answer
    ::_exit(1);
  }
}

/// Reads to the end of the stream. @return false if the deadline came first
bool read_all(int pipe, Clock::time_point deadline, std::string &text) {
  char buffer[1 << 16];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{pipe, POLLIN, 0};
    const int count = left <= 0 ? 0 : ::poll(&ready, 1, int(left));
    if (count == 0)
      return false;
    if (count < 0 && errno == EINTR)
      continue;
    const ssize_t size = ::read(pipe, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return true;
    text.append(buffer, std::size_t(size));
  }
}

} // namespace

Result<std::string> in_own_process(const ProcessLimits &limits,
                                   const std::function<std::string()> &work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    answer(ends[1], limits, work);
  }
  const int cause = errno;
  ::close(ends[1]);
  std::string text;
  const bool in_time =
      child > 0 && read_all(ends[0], Clock::now() + limits.time, text);
  ::close(ends[0]);
  if (child < 0)
    return fail(std::string("cannot start a process: ") + std::strerror(cause));
  if (!in_time)
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    return fail("its process had not ended after " + std::to_string(limits.time.count() / 1000) +
                    " s",
                "Please report it with the file");
  if (WIFSIGNALED(status))
    return fail(std::string("its process crashed (") + strsignal(WTERMSIG(status)) + ")",
                "Please report it with the file");
  if (WEXITSTATUS(status) != 0)
    return fail("its process ran out of memory", "Please report it with the file");
  return text;
}

} // namespace warpwright::cli
