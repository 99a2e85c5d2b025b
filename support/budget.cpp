// Checks of time, stack and memory against their limits; see budget.h.
#include "support/budget.h"

#include <algorithm>
#include <ctime>

namespace warpwright {
namespace {

/// Number of looks per reading of the clock, because a reading costs far more than a look.
constexpr unsigned kLooksPerReading = 256;

/// Shares of the stack. The parser may use less of it, because functions with larger frames walk
/// the parser's trees.
constexpr std::size_t kParserShare = 8; ///< the parser may use one eighth
/// One quarter stays free for calls of Clang between two checkpoints of analysis.
constexpr std::size_t kReserve = 4;

std::chrono::nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Limit at which allocating and parsing throw, if the work did not end at `limit`.
template <class Amount>
Amount hard(Amount limit) {
  return limit + limit / 2;
}

} // namespace

Budget::Budget(const Limits &limits, std::uintptr_t stack_low, std::size_t stack_bytes)
    : limits_(limits), stack_low_(stack_low), stack_bytes_(stack_bytes), start_(thread_time()) {}

std::chrono::nanoseconds Budget::used_time() const { return thread_time() - start_; }

std::uintptr_t Budget::stack_left() const {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - stack_low_;
}

void Budget::look_at_clock() {
  if (++looks_ % kLooksPerReading != 0)
    return;
  used_ = used_time();
  if (used_ > limits_.cpu_time && exhausted_ == Exhausted::Nothing)
    exhausted_ = Exhausted::Time;
}

void Budget::check() {
  look_at_clock();
  if (stack_left() < stack_bytes_ / kReserve && exhausted_ == Exhausted::Nothing)
    exhausted_ = Exhausted::Depth;
  if (exhausted_ != Exhausted::Nothing)
    throw Interrupted();
}

bool Budget::ends_parse() {
  look_at_clock();
  const std::uintptr_t left = stack_left();
  if (left < stack_bytes_ - stack_bytes_ / kParserShare && exhausted_ == Exhausted::Nothing)
    exhausted_ = Exhausted::Depth;
  if (used_ > hard(limits_.cpu_time) || left < stack_bytes_ / kReserve)
    throw Interrupted();
  return exhausted_ != Exhausted::Nothing;
}

bool Budget::allocate(std::size_t bytes) {
  used_bytes_ += static_cast<std::int64_t>(bytes);
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  const auto limit = static_cast<std::int64_t>(limits_.memory_bytes);
  if (used_bytes_ <= limit)
    return true;
  const bool was_passed = exhausted_ == Exhausted::Memory;
  if (exhausted_ == Exhausted::Nothing)
    exhausted_ = Exhausted::Memory;
  // Unwinding needs small allocations, so only large ones are refused.
  return !(was_passed && used_bytes_ > hard(limit)) || bytes < 4096;
}

} // namespace warpwright
