// Hidden sizes: sizes that the task does not name, so that a plan cannot know all shapes it is judged at.
//
// They are drawn between each size's smallest and largest known value. Sizes that in every known binding are equal, or
// one the product of two others, stay so; other constraints are unknown. Therefore the reference runs first, and sizes
// where it faults, writes outside its buffers, leaves outputs unwritten or is unstable are dropped and reported.
// Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// Kind of drawing. Multiples: of the greatest common divisor of a size's known values, for references without bounds
/// checks, which work only there. If the divisor is 1, the two are the same.
enum class HiddenSizes { Any, Multiples };

/// @param affordable sizes that it rejects are drawn again a few times
/// @return nullopt: all known bindings are the same
std::optional<symbolic::Sizes>
draw_hidden_sizes(const model::Task &task, HiddenSizes which, std::mt19937_64 &random,
                  const std::function<bool(const symbolic::Sizes &)> &affordable);

/// Name of the verdict's check for the trials below.
inline constexpr const char *kHiddenCheck = "sizes that the task does not name";

struct HiddenTrials {
  std::vector<TrialResult>
      results; ///< for the candidate; the last may have failed, and is then the last one that was tried
  std::string text; ///< sizes tried, and sizes dropped with the reason
};

/// Tries the candidate at hidden sizes where the reference works.
DeviceResult<HiddenTrials> run_hidden_trials(Job &job, std::mt19937_64 &random);

} // namespace warpwright::runner
