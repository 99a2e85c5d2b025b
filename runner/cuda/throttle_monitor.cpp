// NVML calls; names and values from the NVML API reference.
#include "runner/cuda/throttle_monitor.h"

namespace warpwright::runner::cuda {
namespace {

// nvmlClocksThrottleReason*: HwSlowdown, SwThermal, HwThermal, HwPowerBrake. The software power cap
// (0x4) is left out: large GPUs touch it in every dense kernel, and it hits both sides of an
// interleaved pair alike.
constexpr unsigned long long kThrottled = 0x8 | 0x20 | 0x40 | 0x80;
constexpr std::chrono::milliseconds kInterval{10};

} // namespace

ThrottleMonitor::ThrottleMonitor(const std::string &gpu_uuid)
    : library_({"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"}) {
  if (!library_.is_open())
    return;
  auto *init = library_.find<int()>("nvmlInit_v2");
  auto *by_uuid = library_.find<int(const char *, Handle *)>("nvmlDeviceGetHandleByUUID");
  auto *version = library_.find<int(char *, unsigned)>("nvmlSystemGetDriverVersion");
  throttle_reasons_ =
      library_.find<int(Handle, unsigned long long *)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  if (!init || init() != 0)
    return;
  char text[96] = "";
  if (version && version(text, sizeof text) == 0)
    driver_version_ = text;
  if (!by_uuid || by_uuid(gpu_uuid.c_str(), &device_) != 0)
    device_ = nullptr;
}

ThrottleMonitor::~ThrottleMonitor() {
  if (library_.is_open())
    if (auto *shutdown = library_.find<int()>("nvmlShutdown"))
      shutdown();
}

bool ThrottleMonitor::is_throttled() {
  const auto now = std::chrono::steady_clock::now();
  if (!device_ || !throttle_reasons_ || now - asked_ < kInterval)
    return throttled_;
  asked_ = now;
  unsigned long long reasons = 0;
  throttled_ = throttle_reasons_(device_, &reasons) == 0 && (reasons & kThrottled) != 0;
  return throttled_;
}

} // namespace warpwright::runner::cuda
