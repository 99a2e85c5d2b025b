// Description of a GPU for planning: features of its generation, sizes and speeds of its parts.
//
// arch/ is the only place that knows compute capabilities and sizes of GPUs (scripts/check_gpu_constants.py).
// A new generation is a row in generations.h.
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

/// Instructions by which a generation multiplies tiles; enumerators in generations.h. 0 means no tensor cores.
enum class TensorCores : int;

struct Gpu {
  int capability = 0; ///< 10 * major + minor
  int multiprocessors = 0;
  int shared_bytes_block = 0;          ///< maximum of one block
  int shared_bytes_multiprocessor = 0; ///< shared by the resident blocks
  int registers_multiprocessor = 0;    ///< 4-byte registers
  int threads_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  TensorCores tensor_cores{};
  bool inline_ptx = true; ///< false on the CPU backend, as are all features that need PTX
  bool clusters = false;  ///< clusters of blocks that read each other's shared memory
  bool vector_atomics = false; ///< additions of up to 16 bytes in global memory at once
  bool overlapped_launches = false; ///< programmatic dependent launches: a kernel begins while the one before it ends
  bool gangs = false;     ///< groups of resident blocks that wait for each other were tested here
  Rates rates;

  bool has_tensor_cores() const { return tensor_cores != TensorCores{}; }
};

/// The GPU that a runner describes, or the description of the CPU backend.
/// Errors: the runner leaves out the capability or the number of multiprocessors.
Result<Gpu> gpu_of(const model::DeviceInfo &device);

/// As gpu_of(); the CPU backend where no device is known or gpu_of() fails.
Gpu gpu_or_cpu(const std::optional<model::DeviceInfo> &device);

/// The GPU of this name for tools and tests ("h200"; "cpu" is the CPU backend); nullopt for names not in gpu_names().
std::optional<Gpu> gpu_named(std::string_view name);
std::vector<std::string_view> gpu_names();

/// NVRTC's architecture option, including the generation's own instructions: "sm_90a".
std::string compile_target(int capability);

/// Tensor core instructions of a compute capability, for code without a Gpu.
TensorCores tensor_cores_of(int capability);

} // namespace warpwright::arch
