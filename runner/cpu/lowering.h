// From Clang's device functions to functions that the launcher can call.
//
// Barriers get the number of their call site, needless alignment checks go, shared memory becomes
// memory of the module or of the launcher, and each kernel is given one of two forms. A kernel that
// reaches no barrier and no warp operation becomes loops over the threads of a block, whose context
// is private to the module so that LLVM can vectorise them. Any other is run thread by thread on
// fibers, with the context in the launcher. Thread: one at a time.
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
  std::vector<KernelForm> kernels;        ///< one a kernel of the request
  std::vector<std::string> barrier_sites; ///< "k.cu:12", empty where it is not the user's line
};

/// `void (const void *arguments, const std::uint32_t *shape)`, shape: blockIdx, blockDim, gridDim.
std::string block_function_name(std::size_t kernel, ThreadOrder order);

/// Faults: Unsupported (inline PTX, with its line); CompileFailed (more static shared memory than a
/// block has).
DeviceResult<LoweredModule> lower(llvm::Module &module,
                                  const std::vector<std::string> &kernel_names);

/// Symbols that the launcher defines, of these types.
inline constexpr const char *kFiberContext = "__ww_fiber_context";   ///< std::uint32_t[12]
inline constexpr const char *kDynamicShared = "__ww_dynamic_shared"; ///< void *

} // namespace warpwright::runner::cpu
