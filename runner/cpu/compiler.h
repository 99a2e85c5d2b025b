// Device source to LLVM IR: Clang in this process, on an in-memory file system.
//
// A table behind the source makes one entry function a kernel, `__ww_kernel_I(const char
// *arguments)`, with every argument in its own multiple of 16 bytes, as NVRTC's
// nvrtcAddNameExpression does for name expressions; so overloads, templates and parameter passing
// are Clang's business and the IR passes see one signature. Optimises nothing. Thread: one at a
// time (Clang and LLVM are not shared between threads here).
#pragma once

#include "runner/cpu/prelude_cache.h"
#include "runner/device/device.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::runner::cpu {

struct SourceModule {
  std::unique_ptr<llvm::LLVMContext> context; ///< outlives `module`
  std::unique_ptr<llvm::Module> module;
  std::string log; ///< warnings
  /// For each kernel of the request, the size of each parameter in bytes.
  std::vector<std::vector<std::uint32_t>> parameter_sizes;
};

/// Name of the entry function of kernel `index`.
std::string entry_name(std::size_t index);

/// Faults: CompileFailed with the log; Unsupported with construct and line.
DeviceResult<SourceModule> compile_source(const CompileRequest &request, PreludeCache &preludes);

} // namespace warpwright::runner::cpu
