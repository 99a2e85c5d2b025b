// Ctrl-C, or other signals, as a stop token: the search ends after the current candidate, and its
// results are still printed. A second signal ends the program at once. Thread: the object owns a
// thread that waits for the signal.
#pragma once

#include <csignal>
#include <initializer_list>
#include <stop_token>
#include <thread>

namespace warpwright::server {

class Interrupt {
public:
  /// Blocks the signals in the calling thread and in threads that it starts later. Create the object
  /// before any other thread.
  explicit Interrupt(std::initializer_list<int> signals = {SIGINT});
  std::stop_token token() const { return source_.get_token(); }
  /// As a first signal does. Thread: any.
  void request() { source_.request_stop(); }
  bool requested() const { return source_.stop_requested(); }

private:
  std::stop_source source_;
  std::jthread waiter_; ///< last member: joins before the source is destroyed
};

} // namespace warpwright::server
