// CUDA C++ to cubin by NVRTC, with the resource use that ptxas reports. Needs no GPU.
//
// NVRTC is opened at run time from wherever the toolkit or pip put it. Thread: one at a time.
#pragma once

#include "runner/cuda/compile_log.h"
#include "support/shared_library.h"
#include "runner/cuda/toolkit.h"
#include "runner/verify/compile_cache.h"
#include "runner/device/device.h"
#include "support/error.h"

namespace warpwright::runner::cuda {

struct CompilerOptions {
  int compute_capability = 0;          ///< 10 * major + minor; 0 compiles nothing
  std::shared_ptr<CompileCache> cache; ///< null: every request is compiled
};

struct CompileOutput {
  CompiledCode code;
  std::vector<model::CompileReport> reports; ///< one a kernel of the request, from ptxas's report
};

class Compiler {
public:
  /// Errors: no NVRTC anywhere, with where it was looked for and what to do.
  static Result<std::unique_ptr<Compiler>> make(const CompilerOptions &options);
  virtual ~Compiler() = default;
  /// Faults: CompileFailed with the log.
  virtual DeviceResult<CompileOutput> compile(const CompileRequest &request) = 0;
  virtual std::string version() const = 0;      ///< "13.0"
  virtual std::string library_path() const = 0; ///< of NVRTC
  virtual const ToolkitPaths &toolkit() const = 0;
};

} // namespace warpwright::runner::cuda
