// Monitor of the GPU's clocks, temperature and throttle reasons through NVML. Without NVML, no
// sample counts as throttled, no reading has a value, and driver_version() is empty. The monitor
// queries NVML at most every 10 ms, because NVML is slow and clocks change slowly. Thread: the job
// thread.
#pragma once

#include "support/shared_library.h"
#include "runner/device/device.h"

#include <chrono>
#include <string>

namespace warpwright::runner::cuda {

class ThrottleMonitor {
public:
  /// @param gpu_uuid "GPU-...", the value of DeviceInfo::identifier
  explicit ThrottleMonitor(const std::string &gpu_uuid);
  ~ThrottleMonitor();
  ThrottleMonitor(const ThrottleMonitor &) = delete;

  /// Queries NVML if the last query is at least 10 ms old.
  void refresh();
  /// Whether heat or hardware limited the clocks at the last query. A power cap does not count:
  /// large GPUs reach it in every dense kernel, and it affects both sides of an interleaved pair
  /// equally. clocks() reports it.
  bool is_throttled() const { return throttled_; }
  const ClockReading &clocks() const { return clocks_; }
  const std::string &driver_version() const { return driver_version_; }

private:
  using Handle = struct nvmlDevice_st *;
  std::optional<double> clock_mhz(int domain) const;
  std::optional<double> temperature_c() const;

  SharedLibrary library_;
  Handle device_ = nullptr;
  int (*throttle_reasons_)(Handle, unsigned long long *) = nullptr;
  int (*clock_)(Handle, int, unsigned *) = nullptr;
  int (*temperature_)(Handle, int, unsigned *) = nullptr;
  std::string driver_version_;
  std::chrono::steady_clock::time_point asked_{};
  bool throttled_ = false;
  ClockReading clocks_;
};

} // namespace warpwright::runner::cuda
