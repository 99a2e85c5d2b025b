// Guarded execution of kernel code: an error in the kernel becomes a Fault.
//
// Signals (bad addresses, bad instructions, division), the deadline timer and the handlers that
// kernel code calls all leave the launch by siglongjmp, from the active stack, including fiber
// stacks. Kernel code owns no objects with destructors. The state is global because signal actions
// belong to the process. Thread: one at a time inside guarded(); signals of other threads keep
// their default action.
#pragma once

#include "runner/device/device.h"

#include <chrono>
#include <optional>
#include <string>

namespace warpwright::runner::cpu {

struct GuardOptions {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Describes a bad address, such as "4 bytes past the end of 'x'". Called after the launch has
  /// ended.
  std::string (*describe_address)(void *context, std::uintptr_t address) = nullptr;
  void *context = nullptr;
};

/// Runs `body(argument)`.
/// @return the fault that ended `body`, or nullopt if it returned. `device_lost` is set after a bad
///         access, because `body` may have overwritten other memory.
std::optional<Fault> guarded(void (*body)(void *), void *argument, const GuardOptions &options);

/// Records the reason why the launch ends. The first record wins. Call only inside guarded().
void record_fault(Fault::Kind kind, std::string message);
/// Ends the launch. Call only inside guarded().
[[noreturn]] void leave_launch();

} // namespace warpwright::runner::cpu
