// Implementation of DriverFacts. Values and signatures are those of the CUDA Driver API reference.
#include "runner/capture/driver_facts.h"

namespace warpwright::capture {
namespace {

/// CUpointer_attribute.
enum : int {
  kMemoryType = 2,
  kBufferId = 7,
  kIsManaged = 8,
  kRangeStart = 11,
  kRangeSize = 12,
  kPoolHandle = 17,
};
/// CUmemorytype.
enum : unsigned { kHostMemory = 1, kDeviceMemory = 2 };

constexpr int kCaptureActive = 1; ///< CU_STREAM_CAPTURE_STATUS_ACTIVE
/// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
const auto kLegacyStream = reinterpret_cast<cuda::CUstream>(1);
const auto kPerThreadStream = reinterpret_cast<cuda::CUstream>(2);
/// The driver allows 32764 bytes of parameters.
constexpr std::size_t kMostParameterBytes = 32764;
constexpr std::uint64_t kLowestAddress = 1 << 16;
/// CUDA_ERROR_INVALID_VALUE: the index is behind the last parameter.
constexpr cuda::Status kInvalidValue = 1;

} // namespace

DriverFacts::DriverFacts() : library_({"libcuda.so.1"}) {
  library_.bind(kernel_parameter_info_, "cuKernelGetParamInfo");
  if (!library_.bind(parameter_info_, "cuFuncGetParamInfo"))
    missing_ = "cuFuncGetParamInfo (CUDA 12.4)";
  if (!library_.bind(pointer_attributes_, "cuPointerGetAttributes"))
    missing_ = "cuPointerGetAttributes";
  library_.bind(stream_is_capturing_, "cuStreamIsCapturing");
  library_.bind(current_device_, "cuCtxGetDevice");
  library_.bind(device_name_, "cuDeviceGetName");
  library_.bind(device_attribute_, "cuDeviceGetAttribute");
  library_.bind(driver_version_, "cuDriverGetVersion");
}

/// Null: the function refuses the handle.
std::shared_ptr<const ParameterPlaces> DriverFacts::places_by(ParameterInfo *info,
                                                              cuda::CUfunction function) {
  auto places = std::make_shared<ParameterPlaces>();
  ParameterPlace place;
  cuda::Status status = info ? 0 : kInvalidValue + 1;
  while (status == 0 && place.offset + place.size_bytes <= kMostParameterBytes) {
    status = info(function, places->size(), &place.offset, &place.size_bytes);
    if (status == 0)
      places->push_back(place);
  }
  return status == kInvalidValue ? places : nullptr;
}

std::shared_ptr<const ParameterPlaces> DriverFacts::parameters_of(cuda::CUfunction function) {
  if (!parameter_info_ || !pointer_attributes_)
    return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = functions_.find(function); known != functions_.end())
      return known->second;
  }
  std::shared_ptr<const ParameterPlaces> found = places_by(parameter_info_, function);
  if (!found) // a launch takes a CUkernel in place of a CUfunction
    found = places_by(kernel_parameter_info_, function);
  const std::lock_guard lock(mutex_);
  return functions_[function] = found;
}

void DriverFacts::forget_functions() {
  const std::lock_guard lock(mutex_);
  functions_.clear();
}

std::optional<Pointer> DriverFacts::pointer_at(std::uint64_t address) const {
  if (!pointer_attributes_ || address < kLowestAddress)
    return std::nullopt;
  unsigned type = 0, is_managed = 0;
  std::uint64_t buffer = 0, start = 0;
  std::size_t size = 0;
  void *pool = nullptr;
  int names[] = {kMemoryType, kBufferId, kIsManaged, kRangeStart, kRangeSize, kPoolHandle};
  void *values[] = {&type, &buffer, &is_managed, &start, &size, &pool};
  if (pointer_attributes_(std::size(names), names, values, address) != 0 ||
      (type != kHostMemory && type != kDeviceMemory) || address < start || address >= start + size)
    return std::nullopt;
  return Pointer{.at = 0,
                 .allocation = buffer,
                 .offset = address - start,
                 .extent_bytes = start + size - address,
                 .memory = is_managed            ? "managed"
                           : type == kHostMemory ? "host"
                           : pool                ? "pool"
                                                 : "device",
                 .address = address};
}

cuda::CUstream DriverFacts::named_stream(cuda::CUstream stream, bool per_thread) {
  return stream ? stream : per_thread ? kPerThreadStream : kLegacyStream;
}

bool DriverFacts::is_capturing(cuda::CUstream stream, bool per_thread) const {
  stream = named_stream(stream, per_thread);
  int status = 0;
  // The legacy stream cannot be captured.
  return stream != kLegacyStream && stream_is_capturing_ &&
         stream_is_capturing_(stream, &status) == 0 && status == kCaptureActive;
}

std::optional<Gpu> DriverFacts::current_gpu() const {
  cuda::CUdevice device = 0;
  char name[256] = {};
  int major = 0, minor = 0;
  if (!current_device_ || !device_name_ || !device_attribute_ || current_device_(&device) != 0 ||
      device_name_(name, sizeof name - 1, device) != 0 ||
      device_attribute_(&major, cuda::kComputeMajor, device) != 0 ||
      device_attribute_(&minor, cuda::kComputeMinor, device) != 0)
    return std::nullopt;
  return Gpu{name, std::to_string(major) + "." + std::to_string(minor)};
}

int DriverFacts::version() const {
  int version = 0;
  return driver_version_ && driver_version_(&version) == 0 ? version : 0;
}

} // namespace warpwright::capture
