// The impossibility check: no correct plan is faster than the bytes and operations that must move.
//
// Bytes over the memory's own rate, or the measured copy rate with kRooflineMargin where that is more; operations
// over the fastest measured rate that could serve, with the same margin, tensor cores included, so that a
// legitimate scheme on them passes. Where no rate could be measured, the clocks and widths that the driver tells bound it all the
// same, which the text calls nominal. A time of nothing is impossible without any rate. The L2 is flushed before each sample, so what is read comes from memory; but
// outputs up to the L2's size may still be in the cache when the clock stops. Where the reference itself is
// "impossible", the task's work is wrong and nothing is concluded. Thread: pure functions.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"

#include <optional>
#include <string>

namespace warpwright::runner {

/// What was measured may be surpassed by this factor: memory's nominal bandwidth is 1.135 times what a copy
/// was measured to reach (4.80 against 4.23 TB/s, H200), and reading alone comes closer to it.
inline constexpr double kRooflineMargin = 1.15;

inline constexpr const char *kImpossibleCheck = "not faster than possible";

struct RooflineResult {
  bool impossible = false;
  std::string detail; ///< the floor and how it came about, or why there is none
};

/// @param output_bytes written by the task, at the measured sizes
RooflineResult check_roofline(const model::Task &task, const model::DeviceInfo &device,
                              double reference_ns, double candidate_ns, double output_bytes);

/// What no plan surpasses. 0: not known.
struct Rate {
  double a_second = 0;
  bool nominal = false; ///< of the driver's clocks and widths, and not measured
};

/// Operations; tensor cores included.
Rate fastest_flops_per_s(const model::Task &task, const model::DeviceInfo &device);
/// Bytes of device memory.
Rate fastest_bytes_per_s(const model::DeviceInfo &device);

} // namespace warpwright::runner
