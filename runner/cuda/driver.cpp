// Loading of the driver and classification of its errors.
#include "runner/cuda/driver.h"

namespace warpwright::runner::cuda {

Result<Driver> Driver::load() {
  Driver driver;
  driver.library = SharedLibrary(
      {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"});
  if (!driver.library.is_open())
    return fail("no NVIDIA driver: libcuda.so.1 cannot be opened",
                "Install the driver, or run in a container with the GPU passed through");
  const char *missing = nullptr;
#define WARPWRIGHT_LOAD(member, symbol, ...)                                                       \
  if (!(driver.member = driver.library.find<__VA_ARGS__>(symbol)))                                 \
    missing = symbol;
  WARPWRIGHT_DRIVER_FUNCTIONS(WARPWRIGHT_LOAD)
#undef WARPWRIGHT_LOAD
  if (missing)
    return fail(std::string("the NVIDIA driver is too old: it lacks ") + missing,
                "Install a driver for CUDA 12 or later");
  driver.cuTensorMapEncodeTiled =
      driver.library.find<std::remove_pointer_t<decltype(driver.cuTensorMapEncodeTiled)>>(
          "cuTensorMapEncodeTiled");
  driver.cuTensorMapEncodeIm2col =
      driver.library.find<std::remove_pointer_t<decltype(driver.cuTensorMapEncodeIm2col)>>(
          "cuTensorMapEncodeIm2col");
  driver.cuFuncGetParamInfo =
      driver.library.find<Status(CUfunction, std::size_t, std::size_t *, std::size_t *)>(
          "cuFuncGetParamInfo");
  if (const Status status = driver.cuInit(0); status != 0)
    return fail("the NVIDIA driver does not start: " + driver.text(status),
                "See what nvidia-smi says");
  int count = 0;
  if (driver.cuDeviceGetCount(&count) != 0 || count == 0)
    return fail("the NVIDIA driver sees no GPU",
                "See what nvidia-smi says, and CUDA_VISIBLE_DEVICES");
  return driver;
}

std::string Driver::text(Status status) const {
  const char *name = nullptr, *explanation = nullptr;
  cuGetErrorName(status, &name);
  cuGetErrorString(status, &explanation);
  return std::string(name ? name : std::to_string(status)) +
         (explanation ? std::string(": ") + explanation : "");
}

Fault Driver::to_fault(Status status, const std::string &what) const {
  Fault result{Fault::Kind::Internal, what + ": " + text(status), {}, false};
  switch (status) {
  case 720: // COOPERATIVE_LAUNCH_TOO_LARGE: other processes use a part of the device
    result.kind = Fault::Kind::Unsupported;
    return result;
  case 2: // OUT_OF_MEMORY
    result.kind = Fault::Kind::OutOfMemory;
    return result;
  case 1:   // INVALID_VALUE
  case 701: // LAUNCH_OUT_OF_RESOURCES
  case 801: // NOT_SUPPORTED
    result.kind = Fault::Kind::BadLaunch;
    return result;
  case 716:
    result.message = what + ": misaligned address: a vector or wide access at an address that is "
                            "not a multiple of its size";
    break;
  case 700:
    result.message = what + ": illegal address: an access outside of any buffer";
    break;
  case 702: // LAUNCH_TIMEOUT
    result.kind = Fault::Kind::Timeout;
    result.device_lost = true;
    return result;
  case 214: // ECC_UNCORRECTABLE
  case 46:  // DEVICE_UNAVAILABLE
    result.device_lost = true;
    return result;
  case 710: // ASSERT
  case 714: // HARDWARE_STACK_ERROR
  case 715: // ILLEGAL_INSTRUCTION
  case 717: // INVALID_ADDRESS_SPACE
  case 718: // INVALID_PC
  case 719: // LAUNCH_FAILED
    break;
  default:
    return result;
  }
  result.kind = Fault::Kind::Crash;
  result.device_lost = true; // sticky error: this process cannot use the context any more
  return result;
}

} // namespace warpwright::runner::cuda
