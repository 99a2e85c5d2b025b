// Copies and fills, from the arguments of the driver's functions.
#pragma once

#include "runner/capture/cupti_calls.h"
#include "runner/capture/driver_facts.h"

namespace warpwright::capture {

/// Ids of all functions that copy or fill memory, for enabling their callbacks.
std::vector<std::uint32_t> copy_calls();

struct CopyCall {
  Copy copy; ///< allocations have the driver's own numbers
  cuda::CUstream stream = nullptr;
  bool per_thread = false; ///< stream 0 is the thread's own
  bool has_stream = false; ///< false: the function has no stream argument, or one not read here
};

/// The copy or fill, if `id` is one of copy_calls(); else nullopt.
/// @param name the driver's function
std::optional<CopyCall> read_copy(std::uint32_t id, const char *name, const void *parameters,
                                  const DriverFacts &facts);

} // namespace warpwright::capture
