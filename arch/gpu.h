// A GPU as kernels are planned for: what its generation can do, how large its parts are, and how quick they are.
//
// arch/ is the only place that knows compute capabilities and sizes of GPUs (scripts/check_gpu_constants.py). Adding a generation: a row in
// generations.h. Thread: values.
#pragma once

#include "arch/rates.h"
#include "support/error.h"
#include "support/model/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::arch {

/// Instructions that a generation multiplies tiles by; enumerators in generations.h. 0: it has none.
enum class TensorCores : int;

struct Gpu {
  int capability = 0; ///< 10 * major + minor
  int multiprocessors = 0;
  int shared_bytes_block = 0;          ///< that a block may ask for
  int shared_bytes_multiprocessor = 0; ///< that its resident blocks share
  int registers_multiprocessor = 0;    ///< of 4 bytes
  int threads_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  TensorCores tensor_cores{};
  bool inline_ptx = true; ///< false on the CPU backend, which has none of what takes it either
  bool clusters = false;  ///< blocks that share shared memory
  bool gangs = false;     ///< groups of resident blocks that wait for each other were tried on it
  Rates rates;

  bool has_tensor_cores() const { return tensor_cores != TensorCores{}; }
};

/// The GPU that a runner describes; the CPU backend has a row of its own.
/// Errors: a runner that leaves out the capability, or the number of multiprocessors.
Result<Gpu> gpu_of(const model::DeviceInfo &device);

/// As gpu_of(); the CPU backend's where no device is known, or it does not say.
Gpu gpu_or_cpu(const std::optional<model::DeviceInfo> &device);

/// A GPU of gpu_names(), for tools and tests: "h200", or "cpu" for the CPU backend.
std::optional<Gpu> gpu_named(std::string_view name);
std::vector<std::string_view> gpu_names();

/// NVRTC's architecture with the generation's own instructions: "sm_90a".
std::string compile_target(int capability);

/// By capability alone, for code that has no device at hand.
TensorCores tensor_cores_of(int capability);

} // namespace warpwright::arch
