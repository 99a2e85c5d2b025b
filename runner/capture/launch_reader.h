// Launches, from the arguments of the driver's functions.
#pragma once

#include "runner/capture/cupti_calls.h"
#include "runner/capture/driver_facts.h"

namespace warpwright::capture {

/// Arguments that all launch functions share.
struct LaunchCall {
  cuda::CUfunction function = nullptr;
  cuda::LaunchConfig config;
  void **parameters = nullptr; ///< addresses of the values; null: `extra` holds them
  void **extra = nullptr;
  bool cooperative = false;
  bool per_thread = false; ///< stream 0 is the thread's own
};

/// The call, if `id` is one of a launch (kLaunchKernel, ...); else nullopt.
std::optional<LaunchCall> launch_call(std::uint32_t id, const void *parameters);

/// All facts of a launch. Allocations have the driver's own numbers.
/// @param symbol the kernel's mangled name
Launch read_launch(const LaunchCall &call, const char *symbol, DriverFacts &facts);

} // namespace warpwright::capture
