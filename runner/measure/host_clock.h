// Check of device times against the host's clock.
//
// A device time is the difference of two GPU time stamps. The host's clock cannot measure one short run, but it bounds
// many: consecutive runs take at most the sum of their own times (less with a warm cache) and their starting costs. A
// side whose runs take much longer by the host's clock works outside of its stamps. Starting the reference's runs costs
// the same.
#pragma once

#include <string>

namespace warpwright::runner {

inline constexpr const char *kHostClockCheck = "device time agrees with the host's clock";

/// Number of runs that take a few milliseconds together, so that the start and end of the batch do not matter.
/// @param device_ns of one run
int runs_of_a_batch(double device_ns);

struct HostClockBound {
  bool holds = true;
  std::string text; ///< "runs take 12.3 us by the device's clock and 13 us by the host's, ..."
};

/// @param host_ns of one run of a batch
HostClockBound host_clock_bound(double reference_device_ns, double candidate_device_ns,
                                double reference_host_ns, double candidate_host_ns);

} // namespace warpwright::runner
