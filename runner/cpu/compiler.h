// Compiler from device source to LLVM IR: Clang in this process, on an in-memory file system.
//
// The compiler appends one entry function per kernel to the source, `__ww_kernel_I(const char
// *arguments)`. Each argument starts at a multiple of 16 bytes. Kernel names may be any name
// expression, as with NVRTC's nvrtcAddNameExpression: Clang resolves overloads, templates and
// parameter passing, and the IR passes see a single signature. The IR is not optimized here.
// Thread: one at a time (threads do not share Clang or LLVM here).
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
  std::string log; ///< the compiler's warnings
  /// For each kernel of the request, the size of each parameter in bytes.
  std::vector<std::vector<std::uint32_t>> parameter_sizes;
};

/// Name of the entry function of kernel `index`.
std::string entry_name(std::size_t index);

/// Faults: CompileFailed with the log; Unsupported with the construct and its line.
DeviceResult<SourceModule> compile_source(const CompileRequest &request, PreludeCache &preludes);

} // namespace warpwright::runner::cpu
