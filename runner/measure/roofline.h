// Plausibility check: no correct plan is faster than the least bytes and operations of the task allow.
//
// Bytes are divided by the memory's nominal rate, or by the measured copy rate with kRooflineMargin if that is more;
// operations by the fastest applicable measured rate with the same margin, tensor cores included, so that legitimate
// uses of them pass. Without a measured rate, the driver's clocks and widths give a "nominal" one. A time of zero is
// always impossible. Inputs come from memory, since the L2 is flushed before each sample; outputs up to the L2's size
// may still be cached when the clock stops. If the reference itself is "impossible", the task's work is wrong and
// nothing is concluded.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"

#include <optional>
#include <string>

namespace warpwright::runner {

/// Factor by which a measured rate may be exceeded: memory's nominal bandwidth is 1.135 times the measured copy rate
/// (4.80 against 4.23 TB/s, H200), and reading alone comes closer to it.
inline constexpr double kRooflineMargin = 1.15;

inline constexpr const char *kImpossibleCheck = "not faster than possible";

struct RooflineResult {
  bool impossible = false;
  std::string detail; ///< the lower bound and its derivation, or why there is none
};

/// @param output_bytes written by the task at the measured sizes
RooflineResult check_roofline(const model::Task &task, const model::DeviceInfo &device,
                              double reference_ns, double candidate_ns, double output_bytes);

/// Rate that no plan exceeds. 0: unknown.
struct Rate {
  double a_second = 0;
  bool nominal = false; ///< from the driver's clocks and widths, not measured
};

/// Operations per second, tensor cores included.
Rate fastest_flops_per_s(const model::Task &task, const model::DeviceInfo &device);
/// Bytes of device memory per second.
Rate fastest_bytes_per_s(const model::DeviceInfo &device);

} // namespace warpwright::runner
