// Work in a child process, for commands over many files: a failure on one file does not affect the
// next.
//
// A guard (analysis/guard) ends most failing analyses. A process also ends endless loops in Clang,
// damaged memory and allocations that are not counted. It uses fork(), so it must be called while
// the program has one thread. Thread: one.
#pragma once

#include "support/error.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace warpwright::cli {

struct ProcessLimits {
  std::chrono::milliseconds time{0}; ///< wall time
  std::size_t memory_bytes = 0;      ///< private memory, including the stacks of threads
};

/// Runs `work` in a child process and returns its text. Errors: a crash, no memory, or the
/// deadline.
Result<std::string> in_own_process(const ProcessLimits &limits,
                                   const std::function<std::string()> &work);

} // namespace warpwright::cli
