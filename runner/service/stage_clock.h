// Time that a worker spends in each stage and activity of a job.
//
// A stage ("verifying") is for metrics. Its activities ("running the fp64 reference") show where a
// device's time goes and are logged at debug level. Waiting for other workers of the device is an
// activity of its own.
// Thread: the service's strand.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace warpwright::runner {

class StageClock {
public:
  using Ended = std::function<void(const std::string &stage, double seconds)>;

  explicit StageClock(Ended on_stage_ended) : on_stage_ended_(std::move(on_stage_ended)) {}

  /// @param activity in the worker's words; the name ends before " at "
  void enter(const std::string &stage, const std::string &activity);
  /// Starts or ends waiting within the current stage.
  void wait(bool waiting);
  /// Ends the job.
  /// @return seconds of each activity, longest first: "timing 0.31, waiting 0.2"
  std::string leave();

  const std::string &stage() const { return stage_; }

private:
  using Clock = std::chrono::steady_clock;

  void add_activity(Clock::time_point now);

  Ended on_stage_ended_;
  std::string stage_, activity_;
  bool waiting_ = false;
  Clock::time_point stage_start_, activity_start_;
  std::map<std::string, double> seconds_; ///< by activity
};

} // namespace warpwright::runner
