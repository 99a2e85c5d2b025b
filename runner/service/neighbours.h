// Processes of others on this machine's GPUs. While their kernels run, what a measurement says is of both, so that none is made then.
// A process that only holds a context or memory disturbs nobody. Thread: the service's strand.
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
  /// Who computed on the device at `since` or later: "4711 (python3)". A reading tells of the second before it.
  std::string after(const std::string &device, Clock::time_point since) const;

private:
  struct Seen {
    std::string processes;
    Clock::time_point at;
  };
  std::map<std::string, Seen> last_; ///< by device
};

/// A check of verdicts.
inline constexpr const char *kAloneCheck = "alone on the GPU";

} // namespace warpwright::runner
