// Lower bound of times from measured rates, and the check against it.
#include "runner/measure/roofline.h"

#include <algorithm>
#include <sstream>

namespace warpwright::runner {
namespace {

/// Factor for unmeasured tensor rates: FP8 tensor cores against FP32 units on Hopper, 1979 against 67 TFLOP/s (NVIDIA
/// H100 datasheet).
constexpr double kTensorOverFp32 = 32;
/// Eight-bit against 16-bit tensor cores, from Turing to Blackwell (NVIDIA datasheets).
constexpr double kEightBitOverBf16 = 2;

bool has_eight_bit_buffers(const model::Task &task) {
  return std::any_of(task.buffers.begin(), task.buffers.end(), [](const model::Buffer &buffer) {
    return model::size_bytes(buffer.dtype) == 1;
  });
}

} // namespace

Rate fastest_flops_per_s(const model::Task &task, const model::DeviceInfo &device) {
  if (!device.fp32_flops_per_s) {
    if (!device.peak_fp32_flops_per_s)
      return {};
    return {*device.peak_fp32_flops_per_s * kTensorOverFp32, true};
  }
  if (!device.bf16_flops_per_s)
    return {*device.fp32_flops_per_s * kTensorOverFp32};
  const double fastest = std::max(
      {*device.fp32_flops_per_s, *device.bf16_flops_per_s, device.tf32_flops_per_s.value_or(0)});
  return {(has_eight_bit_buffers(task) ? fastest * kEightBitOverBf16 : fastest) * kRooflineMargin};
}

Rate fastest_bytes_per_s(const model::DeviceInfo &device) {
  const double peak = device.peak_bytes_per_s.value_or(0);
  if (!device.copy_bytes_per_s)
    return {peak, true};
  return {std::max(*device.copy_bytes_per_s * kRooflineMargin, peak)};
}

RooflineResult check_roofline(const model::Task &task, const model::DeviceInfo &device,
                              double reference_ns, double candidate_ns, double output_bytes) {
  if (!(candidate_ns > 0)) // for any work of the task
    return {true, "the candidate took no time"};
  double floor_ns = 0;
  bool nominal = false;
  std::ostringstream text;
  if (const Rate rate = fastest_bytes_per_s(device); task.work.bytes && rate.a_second > 0) {
    const double bytes = static_cast<double>(task.work.bytes->evaluate(task.sizes).value_or(0));
    const double hidden = std::min(output_bytes, static_cast<double>(device.l2_bytes));
    floor_ns = std::max(0.0, bytes - hidden) / rate.a_second * 1e9;
    nominal = rate.nominal;
    text << "bytes that must move take at least " << floor_ns / 1e3 << " us";
  }
  if (const Rate rate = fastest_flops_per_s(task, device); task.work.flops && rate.a_second > 0) {
    const double flops = static_cast<double>(task.work.flops->evaluate(task.sizes).value_or(0));
    const double flops_ns = flops / rate.a_second * 1e9;
    nominal = nominal || rate.nominal;
    text << (text.str().empty() ? "" : ", ") << "operations at least " << flops_ns / 1e3 << " us";
    floor_ns = std::max(floor_ns, flops_ns);
  }
  if (text.str().empty())
    return {false,
            task.work.bytes || task.work.flops
                ? "the device's rates were not measured, and its driver does not tell its clocks"
                : "the task's least work is not known"};
  if (nominal)
    text << ", by the driver's clocks and widths alone, since rates were not measured";
  if (reference_ns < floor_ns)
    return {false, "the reference itself beats the floor (" + text.str() +
                       "): the task's work is not its least"};
  text << "; the candidate took " << candidate_ns / 1e3 << " us";
  return {candidate_ns < floor_ns, text.str()};
}

} // namespace warpwright::runner
