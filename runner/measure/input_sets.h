// Several drawings of the inputs, with both plans ready to run on each, from modules loaded only for timing.
//
// Rotating among buffers keeps a plan from finding its last result at the same address; reloading the modules resets
// `__device__` variables to their initial values. Both plans share the buffers; each has temporaries of its own.
// Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// Indices of the two plans.
inline constexpr std::size_t kReferenceSide = 0, kCandidateSide = 1;

/// One drawing of the inputs at the measured sizes.
struct InputSet {
  BufferSet buffers;
  std::vector<Operation> operations[2];
  std::unique_ptr<Recording> recordings[2];
};

class InputSets {
public:
  static constexpr std::size_t kMostSets = 3;

  /// @param most_sets 1 or more; fewer are made if memory is short
  /// @param reference_alone the candidate is neither prepared nor touched
  static DeviceResult<InputSets> make(Job &job, std::mt19937_64 &random,
                                      std::size_t most_sets = kMostSets,
                                      bool reference_alone = false);
  /// Reloads both plans' modules in random order; earlier recordings are dropped.
  DeviceResult<void> load_anew(Job &job, std::mt19937_64 &random);
  std::vector<InputSet> &sets() { return sets_; }
  /// Takes the timed modules for a separate check; timing is impossible afterwards.
  CompiledPlan take_candidate();

private:
  DeviceResult<void> make_ready(Job &job, std::size_t side);

  bool reference_alone_ = false;
  CompiledPlan plans_[2];
  std::vector<InputSet> sets_; ///< their recordings use plans_
};

} // namespace warpwright::runner
