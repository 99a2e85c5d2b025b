// Early end of a stage, by a signal or a time limit. Thread: any.
#pragma once

#include <chrono>
#include <stop_token>

namespace warpwright::trainer {

/// Returns a source that the first SIGINT or SIGTERM stops; the second signal ends the process as usual. Call it once,
/// from main, before other threads start.
std::stop_source stop_on_signals();

/// A time limit that a loop checks.
class Deadline {
public:
  /// @param seconds 0: no limit
  explicit Deadline(int seconds)
      : end_(seconds > 0 ? std::chrono::steady_clock::now() + std::chrono::seconds(seconds)
                         : std::chrono::steady_clock::time_point::max()) {}
  bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

private:
  std::chrono::steady_clock::time_point end_;
};

} // namespace warpwright::trainer
