// When a stage ends early: a signal, or its time is over. It then writes a checkpoint and says how to go on. Thread: any.
#pragma once

#include <chrono>
#include <stop_token>

namespace warpwright::trainer {

/// Asked to stop by the first SIGINT or SIGTERM; the second one ends the process as usual. Call once, from main.
std::stop_source stop_on_signals();

/// A limit that a loop asks about.
class Deadline {
public:
  /// @param seconds 0: none
  explicit Deadline(int seconds)
      : end_(seconds > 0 ? std::chrono::steady_clock::now() + std::chrono::seconds(seconds)
                         : std::chrono::steady_clock::time_point::max()) {}
  bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

private:
  std::chrono::steady_clock::time_point end_;
};

} // namespace warpwright::trainer
