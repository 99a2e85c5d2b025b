// Run of one plan over a buffer set, with checks for stray writes. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

namespace warpwright::runner {

/// Copies of every output of one run, in memory hidden from the plans.
struct SavedOutputs {
  std::map<std::string, GuardedBuffer> copies;

  /// Calls allocate(), then copy().
  DeviceResult<void> save(Job &job, const BufferSet &set);
  /// Allocates the memory, so that copy() can follow a run at once.
  DeviceResult<void> allocate(Job &job, const BufferSet &set);
  DeviceResult<void> copy(Job &job, const BufferSet &set);
};

/// Runs a plan on the set and checks for stray writes. The failure speaks of "the plan".
DeviceResult<std::optional<Failure>> run_once(Job &job, BufferSet &set, const model::Plan &plan,
                                              const CompiledPlan &compiled, unsigned char poison);

/// True if the source uses atomics, so that the order of additions may differ from run to run.
bool uses_atomics(const std::string &source);
/// True if the source has vector accesses or inline assembly, which may need cudaMalloc's alignment.
bool relies_on_alignment(const std::string &source);

/// Results of an fp64 run, in float64.
class ExactOutputs {
public:
  /// @param set holds the results in its Out and InOut buffers
  explicit ExactOutputs(BufferSet set) : set_(std::move(set)) {}
  /// @param own memory of the outputs, by name
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
  std::optional<std::string> note;     ///< why outputs are absent although expected
};

/// Runs the fp64 reference on a drawing's promoted, aligned inputs; for a torch task, the module in float64.
/// @param rounding seed; not 0: every input is first moved by one unit in the last place, up or down
DeviceResult<ExactRun> run_exact(Job &job, const Drawing &drawing, std::uint64_t rounding = 0);

} // namespace warpwright::runner
