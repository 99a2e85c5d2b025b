// Whether the timed runs of one pair were right, by the same rule as every other run.
//
// Outputs are copied right behind the run; a moment later the buffers must still hold the same, so nothing
// went on after the clock had stopped. A candidate that is wrong here and right when it runs afresh on the
// same inputs lives on what it kept, and that is said. The float64 reference is asked where a run does not agree with the
// reference anyway: how accurate a candidate is was judged before. Thread: the job thread.
#pragma once

#include "runner/measure/input_sets.h"
#include "runner/verify/plan_run.h"

#include <array>
#include <functional>

namespace warpwright::runner {

/// Where the outputs of both sides are copied to; one serves a session's checks one after the other.
using TimedOutputs = std::array<SavedOutputs, 2>;

class TimedRunCheck {
public:
  TimedRunCheck(Job &job, InputSet &set, TimedOutputs &saved)
      : job_(job), set_(set), saved_(saved) {}

  /// Before the pair: memory for the copies, where there is none yet.
  DeviceResult<void> prepare();
  /// Right after a side's run, before anything else touches the buffers.
  DeviceResult<void> after_run(std::size_t side);
  /// After both runs.
  DeviceResult<std::optional<Failure>> judge();

private:
  DeviceResult<std::optional<std::string>> find_late_writes();
  using AddressOf = std::function<Address(const std::string &output)>;

  AddressOf saved_of(std::size_t side) const;
  /// "3 wrong elements in y, the first is y[7]"; nullopt: every output of `got` is right beside `expected`.
  DeviceResult<std::optional<std::string>>
  find_wrong(const AddressOf &got, const AddressOf &expected, const ExactOutputs *exact);
  /// The same of the reference's timed run against a run of its own, afresh.
  DeviceResult<std::optional<std::string>> find_reference_drift();
  DeviceResult<Failure> explain(const std::string &wrong);

  Job &job_;
  InputSet &set_;
  TimedOutputs &saved_;
  std::optional<Failure> failure_;
};

} // namespace warpwright::runner
