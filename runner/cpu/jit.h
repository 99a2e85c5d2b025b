// Optimised object code, and a linked copy of it.
//
// An Image is made once for a source and cached; every Program links its own copy, so that
// `__device__` variables start fresh as they do when a module is loaded. Kernel code sees only the
// symbols of symbols.cpp: libm, memory functions and the backend's own; nothing else of this
// process. Thread: one at a time.
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

/// Faults: those of compile_source() and lower(); Unsupported, with its name, for a function that
/// kernel code may not call; Internal for a back end that fails.
DeviceResult<Image> make_image(const CompileRequest &request, PreludeCache &preludes);

/// `void (const void *arguments)`: one thread of a fiber kernel.
using ThreadFunction = void (*)(const void *);
/// `void (const void *arguments, const std::uint32_t *shape)`: all threads of a block.
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

/// What kernel code may call or read, by symbol.
std::vector<std::pair<const char *, void *>> kernel_symbols();

} // namespace warpwright::runner::cpu
