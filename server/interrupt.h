// Ctrl-C, or other signals, as a stop token: the search ends after the candidate in flight and what was found is still
// printed. The second signal ends the program at once. Thread: one that waits for the signal, owned
// by the object.
#pragma once

#include <csignal>
#include <initializer_list>
#include <stop_token>
#include <thread>

namespace warpwright::server {

class Interrupt {
public:
  /// Blocks the signals in the calling thread and in all that it starts later: make this before any
  /// other thread.
  explicit Interrupt(std::initializer_list<int> signals = {SIGINT});
  std::stop_token token() const { return source_.get_token(); }
  /// As a first signal does. Thread: any.
  void request() { source_.request_stop(); }
  bool requested() const { return source_.stop_requested(); }

private:
  std::stop_source source_;
  std::jthread waiter_; ///< last: joins before the source goes
};

} // namespace warpwright::server
