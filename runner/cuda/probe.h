// The probe: a small kernel whose duration CUPTI tells once, so that what two time stamps cost beyond a
// kernel can be told in every process without CUPTI.
//
// Time stamps as graph nodes lie further apart than the kernel between them is long, by the same amount for
// kernels of any length from about 2 us on (bench/honesty/cupti.py shows it; shorter ones hide some of it, so the
// probe copies memory for that long). GpuTimer::measure_bracket() times the probe between stamps; less its duration
// that is the amount. Both are means of the middle half of many samples, for the timer's tick is 32 ns. Thread: any.
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

/// Duration of the probe with a cold L2, by CUPTI, ns. Starts the device under CUPTI, so it belongs into a
/// process of its own. Errors: no CUPTI, no such GPU.
Result<double> measure_probe_with_cupti(int ordinal);

/// The variable in which a worker is told that duration, ns.
inline constexpr const char *kProbeVariable = "WARPWRIGHT_PROBE_NS";
/// Its value; nullopt when it is not set.
std::optional<double> told_probe_ns();

} // namespace warpwright::runner::cuda
