#include "server/standard_streams.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <future>
#include <thread>
#include <unistd.h>

namespace warpwright::server {
namespace {

/// Clients kill the process two seconds after the session.
constexpr std::chrono::milliseconds kGrace{1'500};

} // namespace

Result<StandardStreams> take_standard_streams() {
  StandardStreams streams;
  streams.output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  streams.input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  if (streams.input < 0 || streams.output < 0)
    return fail("stdin and stdout must be open; a client starts this program");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return streams;
}

void finish_in_time(const std::function<void()> &work, int exit_code) {
  std::promise<void> finished;
  std::thread worker([&] {
    work();
    finished.set_value();
  });
  if (finished.get_future().wait_for(kGrace) != std::future_status::ready)
    std::_Exit(exit_code);
  worker.join();
}

} // namespace warpwright::server
