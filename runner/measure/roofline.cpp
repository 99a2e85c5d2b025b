// The floor from measured rates, and the verdict on it.
#include "runner/measure/roofline.h"

#include <algorithm>
#include <sstream>

namespace warpwright::runner {
namespace {

/// Where tensor rates were not measured: FP8 tensor cores against FP32 units on Hopper, 1979 against 67
/// TFLOP/s (NVIDIA H100 datasheet).
constexpr double kTensorOverFp32 = 32;
/// Eight-bit against 16-bit tensor cores, from Turing to Blackwell (NVIDIA datasheets).
constexpr double kEightBitOverBf16 = 2;

bool has_eight_bit_buffers(const model::Task &task) {
  return std::any_of(task.buffers.begin(), task.buffers.end(), [](const model::Buffer &buffer) {
    return model::size_bytes(buffer.dtype) == 1;
  });
}

} // namespace

std::optional<double> fastest_flops_per_s(const model::Task &task,
                                          const model::DeviceInfo &device) {
  if (!device.fp32_flops_per_s)
    return std::nullopt;
  if (!device.bf16_flops_per_s)
    return *device.fp32_flops_per_s * kTensorOverFp32;
  const double fastest = std::max(
      {*device.fp32_flops_per_s, *device.bf16_flops_per_s, device.tf32_flops_per_s.value_or(0)});
  return (has_eight_bit_buffers(task) ? fastest * kEightBitOverBf16 : fastest) * kRooflineMargin;
}

RooflineResult check_roofline(const model::Task &task, const model::DeviceInfo &device,
                              double reference_ns, double candidate_ns, double output_bytes) {
  double floor_ns = 0;
  std::ostringstream text;
  if (task.work.bytes && device.copy_bytes_per_s) {
    const double bytes = static_cast<double>(task.work.bytes->evaluate(task.sizes).value_or(0));
    const double hidden = std::min(output_bytes, static_cast<double>(device.l2_bytes));
    const double rate =
        std::max(*device.copy_bytes_per_s * kRooflineMargin, device.peak_bytes_per_s.value_or(0));
    floor_ns = std::max(0.0, bytes - hidden) / rate * 1e9;
    text << "bytes that must move take at least " << floor_ns / 1e3 << " us";
  }
  if (const auto rate = fastest_flops_per_s(task, device); task.work.flops && rate) {
    const double flops = static_cast<double>(task.work.flops->evaluate(task.sizes).value_or(0));
    const double flops_ns = flops / *rate * 1e9;
    text << (text.str().empty() ? "" : ", ") << "operations at least " << flops_ns / 1e3 << " us";
    floor_ns = std::max(floor_ns, flops_ns);
  }
  if (text.str().empty())
    return {false, "the task's least work or the device's rates are not known"};
  if (reference_ns < floor_ns)
    return {false, "the reference itself beats the floor (" + text.str() +
                       "): the task's work is not its least"};
  text << "; the candidate took " << candidate_ns / 1e3 << " us";
  return {candidate_ns < floor_ns, text.str()};
}

} // namespace warpwright::runner
