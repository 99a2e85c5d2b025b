// Rule that ends measuring: the ratio's interval (of alike()) is narrow enough, or the budget is spent.
//
// The interval is recomputed only when the count has grown by a fifth, because each look is another chance to stop on
// an accidentally narrow interval. Thread: the job thread.
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

/// Fewest pairs that give a 95% interval: the range of 6 samples contains the median with probability 1 - 2 / 2^6. They
/// are measured even when the budget is spent.
inline constexpr std::size_t kFewestPairs = 6;

class StoppingRule {
public:
  explicit StoppingRule(const StoppingLimits &limits)
      : limits_(limits), next_look_(limits.min_pairs) {}

  /// @param elapsed time since measuring began
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
