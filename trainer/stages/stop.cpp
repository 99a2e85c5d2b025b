#include "trainer/stages/stop.h"

#include <csignal>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace warpwright::trainer {

std::stop_source stop_on_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr); // threads made later inherit it
  std::stop_source source;
  std::thread([signals, source]() mutable {
    int signal = 0;
    sigwait(&signals, &signal);
    source.request_stop();
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    for (;;)
      pause();
  }).detach();
  return source;
}

} // namespace warpwright::trainer
