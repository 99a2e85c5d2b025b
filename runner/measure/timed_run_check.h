// Check that the timed runs of a pair were right, by the same rule as every other run.
//
// Outputs are copied right after the run; a moment later the buffers must still be equal, so no work continued after
// the clock stopped. A candidate that is wrong here but right in a fresh run on the same inputs uses kept results, and
// the message says so. The float64 reference is asked only if a run disagrees with the reference, since the candidate's
// accuracy was judged before. Thread: the job thread.
#pragma once

#include "runner/measure/input_sets.h"
#include "runner/verify/plan_run.h"

#include <array>
#include <functional>

namespace warpwright::runner {

/// Copies of both sides' outputs; a session's checks share one after the other.
using TimedOutputs = std::array<SavedOutputs, 2>;

class TimedRunCheck {
public:
  TimedRunCheck(Job &job, InputSet &set, TimedOutputs &saved)
      : job_(job), set_(set), saved_(saved) {}

  /// Allocates memory for the copies if needed; called before the pair.
  DeviceResult<void> prepare();
  /// Copies a side's outputs; called right after its run, before anything else uses the buffers.
  DeviceResult<void> after_run(std::size_t side);
  /// Judges both runs; nullopt: both are right.
  DeviceResult<std::optional<Failure>> judge();

private:
  DeviceResult<std::optional<std::string>> find_late_writes();
  using AddressOf = std::function<Address(const std::string &output)>;

  AddressOf saved_of(std::size_t side) const;
  /// "3 wrong elements in y, the first is y[7]"; nullopt: every output of `got` is right beside `expected`.
  DeviceResult<std::optional<std::string>>
  find_wrong(const AddressOf &got, const AddressOf &expected, const ExactOutputs *exact);
  /// The same for the reference's timed run against a fresh run of the reference.
  DeviceResult<std::optional<std::string>> find_reference_drift();
  DeviceResult<Failure> explain(const std::string &wrong);

  Job &job_;
  InputSet &set_;
  TimedOutputs &saved_;
  std::optional<Failure> failure_;
};

} // namespace warpwright::runner
