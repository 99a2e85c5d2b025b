// Implementation by a thread in sigtimedwait, because signal handlers may call only few functions.
#include "server/interrupt.h"

#include <ctime>
#include <pthread.h>
#include <unistd.h>

namespace warpwright::server {
namespace {

constexpr long kPollNs = 100'000'000;
constexpr int kInterruptedExit = 130; ///< exit code of shells for SIGINT

} // namespace

Interrupt::Interrupt(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers)
    sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  waiter_ = std::jthread([this, signals](std::stop_token ending) {
    while (!ending.stop_requested()) {
      const timespec wait{0, kPollNs};
      if (sigtimedwait(&signals, nullptr, &wait) < 0)
        continue;
      if (source_.stop_requested())
        _exit(kInterruptedExit);
      source_.request_stop();
    }
  });
}

} // namespace warpwright::server
