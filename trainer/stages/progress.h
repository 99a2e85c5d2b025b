// Progress line on stderr: work done, rate and remaining time. Silent if stderr is no terminal or on request.
// Thread: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace warpwright::trainer {

class Progress {
public:
  /// @param unit "candidates", "steps"
  Progress(std::string stage, std::string unit, std::int64_t total, bool quiet);
  ~Progress();
  /// Updates the line, at most ten times a second. @param note short text such as "best 2.41x"
  void show(std::int64_t done, const std::string &note = {});
  /// Units per second in this process, since construction.
  double per_second() const;

private:
  std::string stage_, unit_;
  std::int64_t total_, first_ = -1, last_ = 0;
  bool shows_;
  std::chrono::steady_clock::time_point started_, shown_;
};

} // namespace warpwright::trainer
