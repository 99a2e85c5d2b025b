// Rates, shares and the rule for the bound.
#include "runner/measure/evidence.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

/// Noise factor: a measured rate counts as the limit until it is exceeded by more.
constexpr double kRateNoise = 1.05;

/// The lowest measured rate that explains the achieved one: a plan faster than the FP32 units uses tensor cores.
std::optional<double> compute_ceiling(const model::DeviceInfo &device, double achieved) {
  for (const auto &rate :
       {device.fp32_flops_per_s, device.tf32_flops_per_s, device.bf16_flops_per_s})
    if (rate && achieved <= *rate * kRateNoise)
      return rate;
  return std::nullopt;
}

} // namespace

std::optional<model::Evidence> evidence_of(const model::Task &task, const model::DeviceInfo &device,
                                           const model::Time &time) {
  const double seconds = time.kernel_ns.value_or(time.median_ns) * 1e-9;
  const auto rate = [&](const std::optional<symbolic::Expression> &work) -> std::optional<double> {
    const auto amount = work ? work->evaluate(task.sizes) : Result<std::int64_t>(0);
    if (!amount || *amount <= 0 || seconds <= 0)
      return std::nullopt;
    return static_cast<double>(*amount) / seconds;
  };
  model::Evidence evidence;
  evidence.bytes_per_s = rate(task.work.bytes);
  evidence.flops_per_s = rate(task.work.flops);
  if (!evidence.bytes_per_s && !evidence.flops_per_s)
    return std::nullopt;
  if (evidence.bytes_per_s && device.copy_bytes_per_s)
    evidence.memory_share = *evidence.bytes_per_s / *device.copy_bytes_per_s;
  if (evidence.flops_per_s)
    if (const auto ceiling = compute_ceiling(device, *evidence.flops_per_s))
      evidence.compute_share = *evidence.flops_per_s / *ceiling;
  const double memory = evidence.memory_share.value_or(0),
               compute = evidence.compute_share.value_or(0);
  if (std::max(memory, compute) >= kBoundShare)
    evidence.bound = memory >= compute ? model::Bound::Memory : model::Bound::Compute;
  return evidence;
}

} // namespace warpwright::runner
