// Work in a process of its own, for commands over many files: whatever becomes of one, the next has its turn.
//
// A guard (analysis/guard) holds nearly all; only a process also ends endless loops in Clang, damaged memory and
// allocations that are not counted. Made with fork(), so to be called while the program has one thread. Thread: one.
#pragma once

#include "support/error.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace warpwright::cli {

struct ProcessLimits {
  std::chrono::milliseconds time{0}; ///< by the clock on the wall
  std::size_t memory_bytes = 0;      ///< of private memory, stacks included
};

/// The text that `work` returns. Errors: how the process ended instead.
Result<std::string> in_own_process(const ProcessLimits &limits,
                                   const std::function<std::string()> &work);

} // namespace warpwright::cli
