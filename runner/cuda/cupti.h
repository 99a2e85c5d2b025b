// Interface to CUPTI's activity records: durations of kernels by name.
//
// CUPTI is opened at run time. Many machines lack it, which is no error for the runner. Tracing
// slows launches down, so the process that measures candidates never opens CUPTI; a child process
// does, once per GPU (runner/cuda/probe.h). The record offsets are those of CUpti_ActivityKernel4
// to 10 (CUDA 9 to 13), which agree in the members read here. Thread: one; CUPTI calls back on its
// own threads, under a lock.
#pragma once

#include "support/shared_library.h"
#include "support/error.h"

#include <vector>

namespace warpwright::runner::cuda {

class Cupti {
public:
  /// Starts tracing kernels. Call at most once per process, before the driver is initialized.
  /// Errors: libcupti is missing or refuses to trace, with a remedy.
  static Result<Cupti> start();
  /// Durations in ns of all launches of this kernel since start(). Waits until CUPTI has delivered
  /// all records.
  std::vector<double> durations_of(const std::string &kernel);

private:
  SharedLibrary library_;
};

} // namespace warpwright::runner::cuda
