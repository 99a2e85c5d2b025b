// Several drawings of the inputs, with both plans ready to run on each, from modules that were loaded for
// timing alone.
//
// Rotating among buffers keeps a plan from finding at an address what it computed there last; loading the
// modules anew makes `__device__` variables what their initialisers say. Both plans use the same buffers; each
// has temporaries of its own. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// Both plans are indexed by this: 0 the reference, 1 the candidate.
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

  /// @param most_sets 1 or more; fewer are made where memory is short
  /// @param reference_alone the candidate is not made ready, and not touched
  static DeviceResult<InputSets> make(Job &job, std::mt19937_64 &random,
                                      std::size_t most_sets = kMostSets,
                                      bool reference_alone = false);
  /// Both plans' modules anew, in random order; what was recorded before is gone.
  DeviceResult<void> load_anew(Job &job, std::mt19937_64 &random);
  std::vector<InputSet> &sets() { return sets_; }
  /// The modules that were timed, for a check of their own; nothing can be timed any more.
  CompiledPlan take_candidate();

private:
  DeviceResult<void> make_ready(Job &job, std::size_t side);

  bool reference_alone_ = false;
  CompiledPlan plans_[2];
  std::vector<InputSet> sets_; ///< their recordings use plans_
};

} // namespace warpwright::runner
