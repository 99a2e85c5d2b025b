#include "runner/measure/host_clock.h"

#include <algorithm>
#include <sstream>

namespace warpwright::runner {
namespace {

constexpr double kBatchNs = 2e6;
constexpr int kFewestRuns = 2, kMostRuns = 200;
/// Factor by which the clock may be lower in a batch than in single runs.
constexpr double kSlower = 1.5;
/// Host time for starting a graph of many nodes beyond one of few.
constexpr double kStartNs = 30'000;

/// Time that the host sees beyond the device time.
double beyond(double device_ns, double host_ns) { return host_ns - kSlower * device_ns; }

} // namespace

int runs_of_a_batch(double device_ns) {
  return std::clamp(static_cast<int>(kBatchNs / std::max(device_ns, 1.0)), kFewestRuns, kMostRuns);
}

HostClockBound host_clock_bound(double reference_device_ns, double candidate_device_ns,
                                double reference_host_ns, double candidate_host_ns) {
  const double starting =
      kStartNs + kSlower * std::max(beyond(reference_device_ns, reference_host_ns), 0.0);
  std::ostringstream text;
  text.precision(4);
  text << "runs take " << candidate_device_ns / 1e3 << " us by the device's clock and "
       << candidate_host_ns / 1e3 << " us by the host's, of many behind each other";
  return {beyond(candidate_device_ns, candidate_host_ns) <= starting, text.str()};
}

} // namespace warpwright::runner
