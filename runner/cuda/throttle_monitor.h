// The GPU's clocks, temperature and what holds them down, through NVML, which may be absent: then nothing is
// ever throttled, no reading has a value, and driver_version() is empty, which says so. Asked at most every
// 10 ms: NVML is slow, and clocks are slower. Thread: the job thread.
#pragma once

#include "support/shared_library.h"
#include "runner/device/device.h"

#include <chrono>
#include <string>

namespace warpwright::runner::cuda {

class ThrottleMonitor {
public:
  /// @param gpu_uuid "GPU-..." as DeviceInfo::identifier
  explicit ThrottleMonitor(const std::string &gpu_uuid);
  ~ThrottleMonitor();
  ThrottleMonitor(const ThrottleMonitor &) = delete;

  /// Asks again where the last answers are old.
  void refresh();
  /// Of the last refresh(): held down by heat or hardware. A power cap is no such reason: large GPUs touch it
  /// in every dense kernel, and it hits both sides of an interleaved pair alike; the reading names it.
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
