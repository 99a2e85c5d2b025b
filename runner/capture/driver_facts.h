// Facts that the driver knows of a launch in progress: parameters of a kernel, allocations behind
// pointers, streams under capture, GPUs.
//
// The functions are called inside CUPTI's callbacks, on the program's threads. They change nothing
// and wait for nothing. No lock of ours may be held meanwhile, because the driver calls back under
// its own locks. Thread: any.
#pragma once

#include "runner/capture/files/capture_files.h"
#include "runner/cuda/driver.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace warpwright::capture {

namespace cuda = runner::cuda;

struct ParameterPlace {
  std::size_t offset = 0, size_bytes = 0;
};
using ParameterPlaces = std::vector<ParameterPlace>;

class DriverFacts {
public:
  /// Binds to the driver that the program has loaded.
  DriverFacts();
  /// Missing functions that parameters or pointers need, for capture.json; empty: none is missing.
  const std::string &missing() const { return missing_; }

  /// Places of a kernel's parameters; null: unknown. Kept until forget_functions().
  std::shared_ptr<const ParameterPlaces> parameters_of(cuda::CUfunction function);
  /// Call when a module is unloaded: a later function may have the same address.
  void forget_functions();

  /// The allocation that an address lies in, with the driver's own number as `allocation`; nullopt:
  /// no memory that CUDA knows.
  std::optional<Pointer> pointer_at(std::uint64_t address) const;

  /// The handle of a call's stream, also for 0.
  /// @param per_thread whether the call was one of those that take 0 as the thread's own stream
  static cuda::CUstream named_stream(cuda::CUstream stream, bool per_thread);
  /// Whether the stream is being captured into a CUDA graph. @param per_thread as in named_stream()
  bool is_capturing(cuda::CUstream stream, bool per_thread) const;

  /// The GPU of the current context; nullopt: there is none.
  std::optional<Gpu> current_gpu() const;
  /// 13000 for CUDA 13.0; 0: unknown.
  int version() const;

private:
  SharedLibrary library_;
  std::string missing_;
  using ParameterInfo = cuda::Status(cuda::CUfunction, std::size_t index, std::size_t *offset,
                                     std::size_t *size_bytes);
  static std::shared_ptr<const ParameterPlaces> places_by(ParameterInfo *, cuda::CUfunction);

  ParameterInfo *parameter_info_ = nullptr, *kernel_parameter_info_ = nullptr;
  cuda::Status (*pointer_attributes_)(unsigned, int *, void **, std::uint64_t) = nullptr;
  cuda::Status (*stream_is_capturing_)(cuda::CUstream, int *) = nullptr;
  cuda::Status (*current_device_)(cuda::CUdevice *) = nullptr;
  cuda::Status (*device_name_)(char *, int, cuda::CUdevice) = nullptr;
  cuda::Status (*device_attribute_)(int *, int, cuda::CUdevice) = nullptr;
  cuda::Status (*driver_version_)(int *) = nullptr;

  std::mutex mutex_; ///< of functions_
  std::unordered_map<cuda::CUfunction, std::shared_ptr<const ParameterPlaces>> functions_;
};

} // namespace warpwright::capture
