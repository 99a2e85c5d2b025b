// Running kernel code so that whatever it does wrong comes back as a Fault.
//
// Signals (bad addresses, bad instructions, division), the deadline's timer and the handlers that
// kernel code calls all leave the launch by siglongjmp, from whatever stack is active, a fiber's
// too. Kernel code owns nothing that would need a destructor. The state is one a process, because
// signals are. Thread: one at a time inside guarded(); signals of other threads keep their default
// action.
#pragma once

#include "runner/device/device.h"

#include <chrono>
#include <optional>
#include <string>

namespace warpwright::runner::cpu {

struct GuardOptions {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Says what lies at a bad address: "4 bytes past the end of 'x'"; called after the launch was
  /// left.
  std::string (*describe_address)(void *context, std::uintptr_t address) = nullptr;
  void *context = nullptr;
};

/// Runs `body(argument)`.
/// @return the fault that ended it, or nullopt when it returned. `device_lost` is set after a bad
/// access,
///         because whatever else it wrote is unknown.
std::optional<Fault> guarded(void (*body)(void *), void *argument, const GuardOptions &options);

/// Inside guarded() only: says why the launch ends. The first record wins.
void record_fault(Fault::Kind kind, std::string message);
/// Inside guarded() only: ends it.
[[noreturn]] void leave_launch();

} // namespace warpwright::runner::cpu
