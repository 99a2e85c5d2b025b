// Run of a tool. The tool's stdout also carries stderr, and the launch inherits both, so the end of
// this stream means that all processes have ended.
#include "runner/deep/tool_run.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace warpwright::runner::deep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookInterval{50}; ///< for checks of `stop`
constexpr std::chrono::seconds kLastWait{10};
constexpr std::size_t kMaxOutputBytes = 16u << 20;

/// Reads all available bytes. @return false at the end of the stream
bool drain(int descriptor, std::string &output) {
  char block[16384];
  for (;;) {
    const ssize_t count = ::read(descriptor, block, sizeof block);
    if (count == 0)
      return false;
    if (count < 0)
      return errno == EAGAIN || errno == EINTR;
    if (output.size() < kMaxOutputBytes)
      output.append(block, static_cast<std::size_t>(count));
  }
}

} // namespace

Result<ToolRun> run_tool(const std::vector<std::string> &command, Leash leash,
                         Clock::time_point deadline, std::stop_token stop) {
  std::vector<std::string> merged = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
  merged.insert(merged.end(), command.begin(), command.end());
  auto process = TRY(Process::spawn(merged));
  ::close(process.release_stdin());
  const int descriptor = process.release_stdout();
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ToolRun run;
  bool open = true;
  while (open) {
    pollfd end{descriptor, POLLIN, 0};
    ::poll(&end, 1, static_cast<int>(kLookInterval.count()));
    open = drain(descriptor, run.output);
    const bool ended_early = run.end != ToolRun::End::ByItself;
    if (open && ended_early && Clock::now() > deadline)
      break; // its holder cannot be killed, because a driver hangs
    if (!open || ended_early || (!stop.stop_requested() && Clock::now() < deadline))
      continue;
    run.end = stop.stop_requested() ? ToolRun::End::Stopped : ToolRun::End::TimedOut;
    deadline = Clock::now() + kLastWait;
    process.kill(SIGKILL);
    leash.release();
  }
  ::close(descriptor);
  // A tool may close its output and go on, so the deadline also applies to its end.
  while (!process.poll()) {
    if (run.end != ToolRun::End::ByItself || stop.stop_requested() || Clock::now() >= deadline)
      process.kill(SIGKILL);
    ::poll(nullptr, 0, 5);
  }
  run.status = process.wait();
  return run;
}

} // namespace warpwright::runner::deep
