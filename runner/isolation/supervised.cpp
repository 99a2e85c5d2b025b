#include "runner/isolation/supervised.h"

#include <chrono>
#include <csignal>
#include <poll.h>

namespace warpwright::runner {
namespace {

constexpr std::chrono::seconds kLimit{2};

} // namespace

void end_supervised(std::optional<Process> &process) {
  if (!process)
    return;
  process->kill(SIGTERM);
  const auto limit = std::chrono::steady_clock::now() + kLimit;
  while (!process->poll() && std::chrono::steady_clock::now() < limit)
    ::poll(nullptr, 0, 1);
  process.reset(); // kills and reaps
}

} // namespace warpwright::runner
