#include "runner/cuda/device_info.h"
#include "runner/cuda/device.h"

#include <unistd.h>

namespace warpwright::runner::cuda {
namespace {

/// Upper bound of the FP32 lanes of a multiprocessor, which are 64 or 128 (CUDA C++ Programming
/// Guide, arithmetic throughput). Each lane does one multiply-add per cycle.
constexpr double kMostLanes = 128;

} // namespace

int attribute(const Driver &driver, int which, CUdevice device) {
  int value = 0;
  driver.cuDeviceGetAttribute(&value, which, device);
  return value;
}

model::DeviceInfo describe_device(const Driver &driver, CUdevice device) {
  model::DeviceInfo info;
  info.kind = "cuda";
  char name[256] = "";
  driver.cuDeviceGetName(name, sizeof name, device);
  info.name = name;
  unsigned char uuid[16] = {};
  driver.cuDeviceGetUuid(uuid, device);
  info.identifier = "GPU-";
  for (int i = 0; i < 16; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    if (i == 4 || i == 6 || i == 8 || i == 10)
      info.identifier += '-';
    info.identifier += {kDigits[uuid[i] >> 4], kDigits[uuid[i] & 15]};
  }
  info.compute_capability = std::to_string(attribute(driver, kComputeMajor, device)) + "." +
                            std::to_string(attribute(driver, kComputeMinor, device));
  std::size_t memory = 0;
  driver.cuDeviceTotalMem(&memory, device);
  info.memory_bytes = memory;
  info.l2_bytes = static_cast<std::uint64_t>(attribute(driver, kL2CacheBytes, device));
  info.multiprocessors = attribute(driver, kMultiprocessorCount, device);
  info.shared_bytes_block = attribute(driver, kMaxSharedBytes, device);
  info.shared_bytes_multiprocessor = attribute(driver, kSharedBytesMultiprocessor, device);
  info.registers_multiprocessor = attribute(driver, kRegistersMultiprocessor, device);
  info.threads_multiprocessor = attribute(driver, kMaxThreadsPerMultiprocessor, device);
  // Double data rate. The product is 0 if the driver does not report the clock, for example on a
  // virtual GPU.
  if (const double peak = 2e3 * attribute(driver, kMemoryClockKhz, device) *
                          attribute(driver, kMemoryBusBits, device) / 8;
      peak > 0)
    info.peak_bytes_per_s = peak;
  if (const double peak =
          1e3 * attribute(driver, kClockKhz, device) * info.multiprocessors * kMostLanes * 2;
      peak > 0)
    info.peak_fp32_flops_per_s = peak;
  int version = 0;
  driver.cuDriverGetVersion(&version);
  info.driver =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  info.host = host;
  return info;
}

Result<std::vector<model::DeviceInfo>> list_cuda_devices() {
  auto driver = TRY(Driver::load());
  int count = 0;
  driver.cuDeviceGetCount(&count);
  std::vector<model::DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    if (driver.cuDeviceGet(&device, ordinal) == 0)
      devices.push_back(describe_device(driver, device));
  }
  return devices;
}

} // namespace warpwright::runner::cuda
