// Whether the GPU's clock is held down, through NVML, which may be absent: then nothing is ever
// throttled and driver_version() is empty, which says so. Asked at most every 10 ms: NVML is slow,
// and clocks are slower. Thread: the job thread.
#pragma once

#include "runner/cuda/shared_library.h"

#include <chrono>
#include <string>

namespace warpwright::runner::cuda {

class ThrottleMonitor {
public:
  /// @param gpu_uuid "GPU-..." as DeviceInfo::identifier
  explicit ThrottleMonitor(const std::string &gpu_uuid);
  ~ThrottleMonitor();
  ThrottleMonitor(const ThrottleMonitor &) = delete;

  bool is_throttled();
  const std::string &driver_version() const { return driver_version_; }

private:
  using Handle = struct nvmlDevice_st *;
  SharedLibrary library_;
  Handle device_ = nullptr;
  int (*throttle_reasons_)(Handle, unsigned long long *) = nullptr;
  std::string driver_version_;
  std::chrono::steady_clock::time_point asked_{};
  bool throttled_ = false;
};

} // namespace warpwright::runner::cuda
