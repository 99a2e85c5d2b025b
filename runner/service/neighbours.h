// Other users' processes on this machine's GPUs. A measurement while their kernels run would cover
// both, so nothing is measured then. A process that only holds a context or memory does not count.
// Thread: the service's strand.
#pragma once

#include "runner/metrics/gpu_readings.h"

#include <chrono>
#include <map>
#include <string>

namespace warpwright::runner {

class Neighbours {
public:
  using Clock = std::chrono::steady_clock;

  void note(const std::vector<metrics::GpuReading> &readings, Clock::time_point now = Clock::now());
  /// Processes that computed on the device at `since` or later: "4711 (python3)"; empty: none. A
  /// reading covers the second before it.
  std::string after(const std::string &device, Clock::time_point since) const;

private:
  struct Seen {
    std::string processes;
    Clock::time_point at;
  };
  std::map<std::string, Seen> last_; ///< by device
};

} // namespace warpwright::runner
