// The two ceilings of a GPU, measured once and cached by GPU and driver: copy bandwidth and FP32
// rate. Thread: the job thread.
#pragma once

#include "runner/cuda/compiler.h"
#include "runner/cuda/driver.h"

namespace warpwright::runner::cuda {

/// Fills copy_bytes_per_s (bytes read plus written) and fp32_flops_per_s; leaves absent what cannot
/// be measured.
void add_rates(const Driver &driver, CUstream stream, Compiler &compiler, int multiprocessors,
               model::DeviceInfo &info);

} // namespace warpwright::runner::cuda
