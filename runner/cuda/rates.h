// Peak rates of a GPU: copy bandwidth, FP32 units and tensor cores. The service passes the rates,
// or the worker measures them. Each process also measures the overhead of two time stamps. Thread:
// the job thread.
#pragma once

#include "runner/cuda/compiler.h"
#include "runner/cuda/driver.h"
#include "runner/cuda/gpu_timer.h"

#include <nlohmann/json.hpp>

namespace warpwright::runner::cuda {

/// Fills copy_bytes_per_s (bytes read plus written), fp32_, tf32_ and bf16_flops_per_s, probe_ns
/// and bracket_ns. Values that cannot be measured stay absent.
/// @param capability 10 * major + minor
void add_rates(const Driver &driver, CUstream stream, Compiler &compiler, GpuTimer &timer,
               int capability, int multiprocessors, model::DeviceInfo &info);

/// The environment variable that passes the rates to a worker, in the form of rates_to_json().
inline constexpr const char *kRatesVariable = "WARPWRIGHT_DEVICE_RATES";
nlohmann::json rates_to_json(const model::DeviceInfo &info);

} // namespace warpwright::runner::cuda
