// One line on stderr about long work: how far, how fast, how long still. Silent when stderr is no terminal, or asked to be.
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
  /// @param note what is worth seeing: "best 2.41x"; shown at most ten times a second
  void show(std::int64_t done, const std::string &note = {});
  /// Of this process, since it was made.
  double per_second() const;

private:
  std::string stage_, unit_;
  std::int64_t total_, first_ = -1, last_ = 0;
  bool shows_;
  std::chrono::steady_clock::time_point started_, shown_;
};

} // namespace warpwright::trainer
