// The impossibility check: no correct plan is faster than the bytes and operations that must move.
//
// Lenient on purpose, because it accuses: outputs up to the L2's size may still be in the cache
// when the clock stops, reading alone is faster than the copy that was measured, and tensor cores
// are faster than the FP32 rate that was measured. Where the reference itself is "impossible", the
// task's work is wrong and nothing is concluded. Thread: pure functions.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"

#include <optional>
#include <string>

namespace warpwright::runner {

struct RooflineResult {
  bool impossible = false;
  std::string detail; ///< the floor and how it came about, or why there is none
};

/// @param output_bytes written by the task, at the measured sizes
RooflineResult check_roofline(const model::Task &task, const model::DeviceInfo &device,
                              double reference_ns, double candidate_ns, double output_bytes);

} // namespace warpwright::runner
