// Device times against the host's clock.
//
// Device times are differences of two stamps that the GPU makes. The host's clock cannot tell short times, but it
// bounds many: runs that are started one behind the other take no longer than their own times, with a warm
// cache less, and what starting them costs. A side whose runs take much longer by the host does work outside of its stamps.
// Starting costs the reference's runs as much. Thread: pure functions.
#pragma once

#include <string>

namespace warpwright::runner {

inline constexpr const char *kHostClockCheck = "device time agrees with the host's clock";

/// So many that they take some milliseconds, and their start and end do not matter.
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
