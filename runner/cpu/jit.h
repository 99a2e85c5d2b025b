// Generation of optimized object code, and linking of executable copies.
//
// The device makes one Image per source and caches it. Every Program links its own copy, so that
// `__device__` variables start at their initial values, as after loading a CUDA module. Kernel code
// can use only the symbols of symbols.cpp: libm, memory functions and the backend's own functions.
// Thread: one at a time.
#pragma once

#include "runner/cpu/compiler.h"
#include "runner/cpu/lowering.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

namespace warpwright::runner::cpu {

struct Image {
  std::string object; ///< ELF
  LoweredModule lowered;
  std::vector<std::vector<std::uint32_t>> parameter_sizes;
  std::string log;
  double compile_ms = 0;
};

/// Faults: those of compile_source() and lower(); Unsupported, with the function name, if the code
/// calls a function that is not in kernel_symbols(); Internal if LLVM fails to generate code.
DeviceResult<Image> make_image(const CompileRequest &request, PreludeCache &preludes);

/// `void (const void *arguments)`: runs one thread of a fiber kernel.
using ThreadFunction = void (*)(const void *);
/// `void (const void *arguments, const std::uint32_t *shape)`: runs all threads of a block.
using BlockFunction = void (*)(const void *, const std::uint32_t *);

struct LinkedKernel {
  ThreadFunction thread = nullptr;                                ///< fibers only
  BlockFunction block_forward = nullptr, block_reverse = nullptr; ///< loops only
  std::vector<std::pair<void *, std::uint64_t>> shared; ///< address and size of static variables
};

struct LinkedImage {
  std::unique_ptr<llvm::orc::LLJIT> jit; ///< owns the code
  std::vector<LinkedKernel> kernels;
};

/// Faults: Internal.
DeviceResult<LinkedImage> link_image(const Image &image);

/// Names and addresses of the functions and variables that kernel code may use.
std::vector<std::pair<const char *, void *>> kernel_symbols();

} // namespace warpwright::runner::cpu
