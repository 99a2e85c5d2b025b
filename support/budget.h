// Budget of one analysis: limits of time, memory and stack depth, and the end of an analysis that
// passes a limit.
//
// Source text is hostile input: hash rounds, macros and templates of a few lines can keep a parser
// busy forever. Clang cannot be told to stop, and analysis is recursive, so both check a budget as
// they run: the parser at each token and instantiation (analysis/parse/watch_parse.h), analysis at
// each checkpoint(), and memory in `operator new` (analysis/guard/memory.cpp). The first limit
// passed is recorded. From then on a checkpoint throws, and the parser sees no more text. If the
// work still continues, allocating and parsing throw at a higher limit. The guard
// (analysis/guard/guard.h) catches these exceptions, and handles threads and signals. Thread: a
// budget belongs to one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace warpwright {

/// Limits of one analysis.
struct Limits {
  std::chrono::milliseconds cpu_time{0}; ///< CPU time of its thread, independent of other load
  std::size_t memory_bytes = 0;          ///< held at one time, allocated by its thread
};

enum class Exhausted { Nothing, Time, Memory, Depth };

/// Exception that ends an analysis. It passes through frames of Clang, which do not clean up, so
/// their memory is lost.
class Interrupted : public std::exception {
public:
  const char *what() const noexcept override { return "the analysis was ended at one of its limits"; }
};

class Budget {
public:
  /// @param stack_low, stack_bytes the stack of the thread that will use the budget
  Budget(const Limits &limits, std::uintptr_t stack_low, std::size_t stack_bytes);

  Exhausted exhausted() const { return exhausted_; }
  const Limits &limits() const { return limits_; }
  std::size_t peak_bytes() const { return static_cast<std::size_t>(peak_bytes_); }
  std::chrono::nanoseconds used_time() const;

  /// For analysis: throws Interrupted once a limit is passed.
  void check();
  /// For the parser: whether to give it no more text. Throws Interrupted if the parser continues
  /// far beyond a limit.
  bool ends_parse();
  /// @return false if the allocation must be refused, because the memory limit is passed by far
  bool allocate(std::size_t bytes);
  void release(std::size_t bytes) { used_bytes_ -= static_cast<std::int64_t>(bytes); }

private:
  void look_at_clock();
  /// Bytes of the stack that are left below the caller; a large number on another stack.
  std::uintptr_t stack_left() const;

  Limits limits_;
  std::uintptr_t stack_low_;
  std::size_t stack_bytes_;
  std::chrono::nanoseconds start_;
  std::chrono::nanoseconds used_{0}; ///< at the last reading of the clock
  std::int64_t used_bytes_ = 0, peak_bytes_ = 0;
  unsigned looks_ = 0;
  Exhausted exhausted_ = Exhausted::Nothing;
};

/// Budget of the work under a guard on this thread; null outside a guard.
inline thread_local Budget *current_budget = nullptr;

/// Call it in loops and recursions of analysis. Throws Interrupted once a limit is passed; does
/// nothing outside a guard.
inline void checkpoint() {
  if (Budget *budget = current_budget)
    budget->check();
}

} // namespace warpwright
