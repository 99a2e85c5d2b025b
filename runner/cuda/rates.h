// What a GPU reaches: copy bandwidth, the rates of the FP32 units and of the tensor cores, told by the service or measured here;
// and, in each process, what two time stamps cost beyond a kernel. Thread: the job thread.
#pragma once

#include "runner/cuda/compiler.h"
#include "runner/cuda/driver.h"
#include "runner/cuda/gpu_timer.h"

#include <nlohmann/json.hpp>

namespace warpwright::runner::cuda {

/// Fills copy_bytes_per_s (bytes read plus written), fp32_, tf32_ and bf16_flops_per_s, probe_ns and bracket_ns; leaves
/// absent what cannot be measured.
/// @param capability 10 * major + minor
void add_rates(const Driver &driver, CUstream stream, Compiler &compiler, GpuTimer &timer,
               int capability, int multiprocessors, model::DeviceInfo &info);

/// The variable in which a worker is told the rates, as rates_to_json() writes them.
inline constexpr const char *kRatesVariable = "WARPWRIGHT_DEVICE_RATES";
nlohmann::json rates_to_json(const model::DeviceInfo &info);

} // namespace warpwright::runner::cuda
