// The probe: a small kernel whose duration is measured once with CUPTI. With this duration, every
// process can find the overhead of two time stamps without CUPTI.
//
// The interval between two time stamps that are graph nodes is longer than the kernel between them.
// The difference is the same for all kernels of at least about 2 us (bench/honesty/cupti.py shows
// this). Shorter kernels hide a part of the difference, so the probe copies memory for about 2 us.
// GpuTimer::measure_bracket() times the probe between stamps and subtracts the probe's duration.
// Both numbers are means of the middle half of many samples, because the timer's tick is 32 ns.
// Thread: any.
#pragma once

#include "support/error.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner::cuda {

inline constexpr const char *kProbeKernel = "ww_probe";
inline constexpr const char *kProbeSource = R"(
extern "C" __global__ void ww_probe(const float *in, float *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
)";
inline constexpr unsigned kProbeBlocks = 1024, kProbeThreads = 256;

/// Duration of the probe in ns with a cold L2, measured with CUPTI. Starts the device under CUPTI,
/// so call this function in a separate process. Errors: no CUPTI, no such GPU.
Result<double> measure_probe_with_cupti(int ordinal);

/// The environment variable that passes the probe's duration in ns to a worker.
inline constexpr const char *kProbeVariable = "WARPWRIGHT_PROBE_NS";
/// Value of kProbeVariable; nullopt if it is not set or not positive.
std::optional<double> told_probe_ns();

} // namespace warpwright::runner::cuda
