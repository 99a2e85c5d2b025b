// Compiler from CUDA C++ to cubin with NVRTC, including the resource usage that ptxas reports. The
// compiler needs no GPU.
//
// NVRTC is opened at run time from the toolkit or from pip's packages. Thread: one at a time.
#pragma once

#include "runner/cuda/compile_log.h"
#include "support/shared_library.h"
#include "runner/cuda/toolkit.h"
#include "runner/verify/compile_cache.h"
#include "runner/device/device.h"
#include "support/error.h"

namespace warpwright::runner::cuda {

struct CompilerOptions {
  int compute_capability = 0;          ///< 10 * major + minor; with 0, compile() fails
  std::shared_ptr<CompileCache> cache; ///< null: every request is compiled
};

struct CompileOutput {
  CompiledCode code;
  std::vector<model::CompileReport> reports; ///< one per kernel of the request, read from the log
};

/// Kernels in one module, or each in one of its own.
struct CompiledKernels {
  std::vector<CompiledCode> modules;
  std::vector<std::size_t> module_of; ///< for each kernel of the request, the place in `modules`
  std::vector<std::string> symbols;   ///< likewise, its name there
  std::vector<model::CompileReport> reports;
};

class Compiler {
public:
  /// Errors: NVRTC was not found, with the places that were searched and a remedy.
  static Result<std::unique_ptr<Compiler>> make(const CompilerOptions &options);
  virtual ~Compiler() = default;
  /// Faults: CompileFailed with the log.
  virtual DeviceResult<CompileOutput> compile(const CompileRequest &request) = 0;
  /// Compiles the kernels of a separable request one by one, on several cores; the cache keeps each by itself. Other
  /// requests, and those that fail so, are compiled whole. Faults: as compile().
  virtual DeviceResult<CompiledKernels> compile_kernels(const CompileRequest &request) = 0;
  virtual std::string version() const = 0;      ///< "13.0"
  virtual std::string library_path() const = 0; ///< path of NVRTC's library
  virtual const ToolkitPaths &toolkit() const = 0;
};

} // namespace warpwright::runner::cuda
