// Lowering of Clang's device functions to functions that the launcher can call.
//
// The passes number the barriers' call sites, remove needless alignment checks, and place shared
// memory in the module (static) or in the launcher (dynamic). Each kernel gets one of two forms. A
// kernel that reaches no barrier and no warp operation becomes loops over the threads of a block;
// the thread context is private to the module, so LLVM can vectorize the loops. Any other kernel
// runs each thread on a fiber, with the context in the scheduler. Thread: one at a time.
#pragma once

#include "runner/device/device.h"

#include <llvm/IR/Module.h>
#include <string>
#include <vector>

namespace warpwright::runner::cpu {

/// A static `__shared__` variable.
struct SharedVariable {
  std::string symbol;
  std::uint64_t size_bytes = 0;
};

struct KernelForm {
  bool fibers = false;
  bool dynamic_shared = false; ///< reaches an `extern __shared__` array
  std::vector<SharedVariable> shared;
  std::uint64_t shared_bytes() const;
};

struct LoweredModule {
  std::vector<KernelForm> kernels;        ///< one per kernel of the request
  std::vector<std::string> barrier_sites; ///< "line 12"; empty in the backend's headers
};

/// Name of the loop function of a kernel. Its type is `void (const void *arguments, const
/// std::uint32_t *shape)`; shape holds blockIdx, blockDim, gridDim.
std::string block_function_name(std::size_t kernel, ThreadOrder order);

/// Faults: Unsupported (inline PTX, with its line); CompileFailed (more static shared memory than
/// nvcc allows).
DeviceResult<LoweredModule> lower(llvm::Module &module,
                                  const std::vector<std::string> &kernel_names);

/// Symbols that the scheduler and the launcher define.
inline constexpr const char *kFiberContext = "__ww_fiber_context";   ///< std::uint32_t[12]
inline constexpr const char *kDynamicShared = "__ww_dynamic_shared"; ///< void *

} // namespace warpwright::runner::cpu
