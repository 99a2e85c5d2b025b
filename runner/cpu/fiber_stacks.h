// Stacks for the threads of one block. Each has a guard page below. Blocks reuse the stacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpwright::runner::cpu {

class FiberStacks {
public:
  static constexpr std::size_t kStackBytes = 128 * 1024;

  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks();

  /// Ensures that at least `count` stacks exist. @return false if memory cannot be mapped
  bool reserve(std::size_t count);
  /// The highest address of stack `index`, 16-byte aligned. Tops are staggered to avoid cache-set
  /// conflicts between stacks.
  void *top(std::size_t index) const;
  /// Whether `address` lies in a guard page, which means that a stack overflowed.
  bool is_guard(std::uintptr_t address) const;

private:
  char *memory_ = nullptr;
  std::size_t count_ = 0;
};

} // namespace warpwright::runner::cpu
