// Implementation of ThrottleMonitor. Names and values are from the NVML API reference.
#include "runner/cuda/throttle_monitor.h"

namespace warpwright::runner::cuda {
namespace {

/// nvmlClocksEventReason* bits. kPowerCap: SwPowerCap. kThrottled: HwSlowdown, SwThermal,
/// HwThermal, HwPowerBrake.
constexpr unsigned long long kPowerCap = 0x4, kThrottled = 0x8 | 0x20 | 0x40 | 0x80;
/// nvmlClockType_t and nvmlTemperatureSensors_t.
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;
constexpr std::chrono::milliseconds kInterval{10};

} // namespace

ThrottleMonitor::ThrottleMonitor(const std::string &gpu_uuid)
    : library_({"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"}) {
  if (!library_.is_open())
    return;
  auto *init = library_.find<int()>("nvmlInit_v2");
  auto *by_uuid = library_.find<int(const char *, Handle *)>("nvmlDeviceGetHandleByUUID");
  auto *version = library_.find<int(char *, unsigned)>("nvmlSystemGetDriverVersion");
  for (const char *symbol : {"nvmlDeviceGetCurrentClocksThrottleReasons",
                             "nvmlDeviceGetCurrentClocksEventReasons"}) // the newer name
    if (!throttle_reasons_)
      throttle_reasons_ = library_.find<int(Handle, unsigned long long *)>(symbol);
  clock_ = library_.find<int(Handle, int, unsigned *)>("nvmlDeviceGetClockInfo");
  temperature_ = library_.find<int(Handle, int, unsigned *)>("nvmlDeviceGetTemperature");
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

void ThrottleMonitor::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (!device_ || now - asked_ < kInterval)
    return;
  asked_ = now;
  unsigned long long reasons = 0;
  const bool told = throttle_reasons_ && throttle_reasons_(device_, &reasons) == 0;
  throttled_ = told && (reasons & kThrottled) != 0;
  clocks_ = {clock_mhz(kSmClock), clock_mhz(kMemoryClock), temperature_c(),
             told ? std::optional((reasons & kPowerCap) != 0) : std::nullopt};
}

std::optional<double> ThrottleMonitor::clock_mhz(int domain) const {
  unsigned value = 0;
  if (!clock_ || clock_(device_, domain, &value) != 0)
    return std::nullopt;
  return value;
}

std::optional<double> ThrottleMonitor::temperature_c() const {
  unsigned value = 0;
  if (!temperature_ || temperature_(device_, kGpuSensor, &value) != 0)
    return std::nullopt;
  return value;
}

} // namespace warpwright::runner::cuda
