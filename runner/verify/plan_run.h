// One run of one plan over a buffer set, between checks for stray writes. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// A copy of every output of one run, in memory that the plans never see.
struct SavedOutputs {
  std::map<std::string, GuardedBuffer> copies;

  /// allocate(), then copy().
  DeviceResult<void> save(Job &job, const BufferSet &set);
  /// Makes the memory, so that copy() can follow a run at once.
  DeviceResult<void> allocate(Job &job, const BufferSet &set);
  DeviceResult<void> copy(Job &job, const BufferSet &set);
};

/// Runs a plan on the set and looks for stray writes. The failure speaks of "the plan".
DeviceResult<std::optional<Failure>> run_once(Job &job, BufferSet &set, const model::Plan &plan,
                                              const CompiledPlan &compiled, unsigned char poison);

/// Whether the order of its additions may differ from run to run.
bool uses_atomics(const std::string &source);
/// Whether it has vector accesses or inline assembly, which may need the alignment that cudaMalloc gives.
bool relies_on_alignment(const std::string &source);

/// What an fp64 run left, in float64.
class ExactOutputs {
public:
  /// @param set whose Out and InOut buffers hold it
  explicit ExactOutputs(BufferSet set) : set_(std::move(set)) {}
  /// @param own the outputs' memory, by name
  explicit ExactOutputs(std::map<std::string, GuardedBuffer> own) : own_(std::move(own)) {}

  Address at(const std::string &buffer) const {
    return set_ ? set_->bound().at(buffer).address : own_.at(buffer).address();
  }

private:
  std::optional<BufferSet> set_;
  std::map<std::string, GuardedBuffer> own_;
};

struct ExactRun {
  std::optional<ExactOutputs> outputs; ///< absent where the task has no fp64 reference
  std::optional<std::string> note;     ///< why there are none, where there should be
};

/// Runs the fp64 reference on the promoted inputs of a drawing, aligned; of a torch task, the module in float64.
/// @param rounding not 0: every input is first moved by one unit in its last place, in directions that this decides
DeviceResult<ExactRun> run_exact(Job &job, const Drawing &drawing, std::uint64_t rounding = 0);

} // namespace warpwright::runner
