// How long, how deep and with how much memory one analysis may run, and how it ends when it may not go on.
//
// Source text is hostile input: hash rounds, macros and templates of a few lines can keep a parser busy for ever.
// Clang has no way to be told to stop, and analysis is recursive, so both look at a budget as they go: the parser at
// each token and instantiation (analysis/parse/watch_parse.h), analysis at each checkpoint(), memory in `operator new`
// (analysis/guard/memory.cpp). The first limit that is passed is noted; from then on a checkpoint throws, and the parser sees no more
// text. Where that does not end it, allocating and parsing throw too, somewhat later. guard.h catches all of it.
// Leaves out threads and signals, which are the guard's (analysis/guard/guard.h). Thread: a budget belongs to one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace warpwright {

/// What one analysis may use.
struct Limits {
  std::chrono::milliseconds cpu_time{0}; ///< of its thread: on a busy machine nothing fails that else would not
  std::size_t memory_bytes = 0;          ///< held at one time, allocated by its thread
};

enum class Exhausted { Nothing, Time, Memory, Depth };

/// Ends an analysis from inside. Passes through frames of Clang, which have no clean-up: what they hold is lost.
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
  /// For the parser: whether it should see no more text. Throws Interrupted where it goes on all the same.
  bool ends_parse();
  /// @return false: do not allocate that; the limit is passed by far
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
  std::chrono::nanoseconds used_{0}; ///< at the last look
  std::int64_t used_bytes_ = 0, peak_bytes_ = 0;
  unsigned looks_ = 0;
  Exhausted exhausted_ = Exhausted::Nothing;
};

/// Of what runs on this thread under a guard; null outside.
inline thread_local Budget *current_budget = nullptr;

/// To be called where analysis loops or recurs. Throws Interrupted; does nothing outside a guard.
inline void checkpoint() {
  if (Budget *budget = current_budget)
    budget->check();
}

} // namespace warpwright
