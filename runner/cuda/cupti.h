// CUPTI's activity records as far as the runner uses them: how long kernels of a name took.
//
// Opened at run time; absent on many machines, which is no error for the runner. CUPTI slows launches
// down while it traces, so the process that measures candidates never opens it: a child does, once a GPU
// (runner/cuda/probe.h). Offsets of CUpti_ActivityKernel4 to 10 (CUDA 9 to 13), which agree in the members
// read here. Thread: one; CUPTI calls back on threads of its own, under a lock.
#pragma once

#include "support/shared_library.h"
#include "support/error.h"

#include <vector>

namespace warpwright::runner::cuda {

class Cupti {
public:
  /// Traces kernels from here on; before the driver is initialised. Once a process.
  /// Errors: no libcupti, or one that refuses, with what to do.
  static Result<Cupti> start();
  /// Durations in ns of the launches since then of kernels of this name. Waits until CUPTI has told all.
  std::vector<double> durations_of(const std::string &kernel);

private:
  SharedLibrary library_;
};

} // namespace warpwright::runner::cuda
