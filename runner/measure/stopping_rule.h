// When enough pairs were measured: the ratio's interval is narrow enough, or the budget is spent. The interval is that of alike().
//
// The interval is computed anew only when the count has grown by a fifth: each look is one more chance to
// stop on an interval that is narrow by luck. Thread: the job thread.
#pragma once

#include "runner/measure/paired_samples.h"

#include <chrono>
#include <cstddef>

namespace warpwright::runner {

struct StoppingLimits {
  std::size_t min_pairs = 24, max_pairs = 2000;
  double relative_half_width = 0.005;
  std::chrono::milliseconds budget{2000};
};

/// The fewest pairs that give a 95% interval at all: from the least to the greatest of 6 holds the median
/// with a probability of 1 - 2 / 2^6. So many are measured even when the budget is spent.
inline constexpr std::size_t kFewestPairs = 6;

class StoppingRule {
public:
  explicit StoppingRule(const StoppingLimits &limits)
      : limits_(limits), next_look_(limits.min_pairs) {}

  /// @param elapsed since measuring began
  bool enough(const PairedSamples &samples, std::chrono::nanoseconds elapsed) {
    const std::size_t pairs = samples.size();
    if (pairs >= limits_.max_pairs || (elapsed >= limits_.budget && pairs >= kFewestPairs))
      return true;
    if (pairs < next_look_)
      return false;
    next_look_ = pairs + pairs / 5 + 1;
    return alike(samples).ratio().relative_half_width() <= limits_.relative_half_width;
  }

private:
  StoppingLimits limits_;
  std::size_t next_look_;
};

} // namespace warpwright::runner
