// Sizes that the task does not name, so that a plan cannot know the shapes by which it is judged.
//
// Drawn between the smallest and the largest known value of each size. Sizes that are equal, or one the
// product of two others, in every known binding stay so; nothing else is known of what they may be. Therefore
// the reference runs there first, and where it is not at home (it faults, writes outside its buffers, leaves
// outputs unwritten, is unstable) the sizes are dropped and said so. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// Multiples: of the greatest common divisor of a size's known values, for references that have no guard and
/// are at home nowhere else. Where that divisor is 1 the two are the same.
enum class HiddenSizes { Any, Multiples };

/// @param affordable what is not is drawn again, a few times
/// @return none where all known bindings are the same
std::optional<symbolic::Sizes>
draw_hidden_sizes(const model::Task &task, HiddenSizes which, std::mt19937_64 &random,
                  const std::function<bool(const symbolic::Sizes &)> &affordable);

/// The verdict's check that the trials below are.
inline constexpr const char *kHiddenCheck = "sizes that the task does not name";

struct HiddenTrials {
  std::vector<TrialResult>
      results; ///< of the candidate; the last may have failed, and is then the last that was tried
  std::string text; ///< where it was tried, and where not, with the reason
};

/// Tries the candidate at some, where the reference is at home.
DeviceResult<HiddenTrials> run_hidden_trials(Job &job, std::mt19937_64 &random);

} // namespace warpwright::runner
