// How long a worker spends in each stage of a job, and at what.
//
// A stage ("verifying") is for metrics; what it consists of ("running the fp64 reference") says where a device's time goes, and is
// logged where debugging is on. Waiting for other workers of the device counts as an activity of its own. It decides nothing.
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

  /// @param activity as a worker words it; what follows " at " is not part of its name
  void enter(const std::string &stage, const std::string &activity);
  /// Within the same stage, until the next call of this.
  void wait(bool waiting);
  /// The job is over. @return seconds of each activity, longest first: "timing 0.31, waiting 0.2"
  std::string leave();

  const std::string &stage() const { return stage_; }

private:
  using Clock = std::chrono::steady_clock;

  void add_activity(Clock::time_point now);

  Ended on_stage_ended_;
  std::string stage_, activity_;
  bool waiting_ = false;
  Clock::time_point stage_start_, activity_start_;
  std::map<std::string, double> seconds_; ///< of each activity
};

} // namespace warpwright::runner
