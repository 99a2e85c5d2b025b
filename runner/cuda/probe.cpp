#include "runner/cuda/probe.h"
#include "runner/cuda/cupti.h"
#include "runner/cuda/device.h"
#include "runner/measure/median_interval.h"

#include <cstdlib>

namespace warpwright::runner::cuda {

Result<double> measure_probe_with_cupti(int ordinal) {
  auto cupti = TRY(Cupti::start());
  const auto device = make_cuda_device(ordinal); // start-up measures the bracket with the probe
  if (!device)
    return std::unexpected(device.error());
  std::vector<double> durations = cupti.durations_of(kProbeKernel);
  if (durations.empty())
    return fail("CUPTI told of no launch of the probe kernel");
  // Most runs only warm up the GPU (GpuTimer::measure_bracket()), so only the last quarter counts.
  durations.erase(durations.begin(),
                  durations.end() - static_cast<std::ptrdiff_t>((durations.size() + 3) / 4));
  return mean_of_middle_half(durations);
}

std::optional<double> told_probe_ns() {
  const char *told = std::getenv(kProbeVariable);
  const double ns = told ? std::atof(told) : 0;
  return ns > 0 ? std::optional(ns) : std::nullopt;
}

} // namespace warpwright::runner::cuda
