// Whether the timed runs of one pair were right, by the same rule as every other run.
//
// Outputs are copied right behind the run; a moment later the buffers must still hold the same, so nothing
// went on after the clock had stopped. A candidate that is wrong here and right when it runs afresh on the
// same inputs lives on what it kept, and that is said. Thread: the job thread.
#pragma once

#include "runner/measure/input_sets.h"
#include "runner/verify/plan_run.h"

namespace warpwright::runner {

class TimedRunCheck {
public:
  TimedRunCheck(Job &job, InputSet &set) : job_(job), set_(set) {}

  /// Before the pair: memory for the copies.
  DeviceResult<void> prepare();
  /// Right after a side's run, before anything else touches the buffers.
  DeviceResult<void> after_run(std::size_t side);
  /// After both runs.
  DeviceResult<std::optional<Failure>> judge();

private:
  DeviceResult<std::optional<std::string>> find_late_writes();
  DeviceResult<std::optional<Failure>> judge_outputs(const ExactOutputs *exact);
  DeviceResult<Failure> explain(const std::string &wrong);

  Job &job_;
  InputSet &set_;
  SavedOutputs saved_[2];
  std::optional<Failure> failure_;
};

} // namespace warpwright::runner
