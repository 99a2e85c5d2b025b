// Stacks of the threads of one block, each with a guard page below, kept from block to block.
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

  /// Makes sure of `count` stacks. @return false when the memory is not there
  bool reserve(std::size_t count);
  /// The highest address of stack `index`, 16-byte aligned. Tops are staggered, or all would share
  /// cache sets.
  void *top(std::size_t index) const;
  /// Whether an address lies in a guard page: a kernel's stack overflowed.
  bool is_guard(std::uintptr_t address) const;

private:
  char *memory_ = nullptr;
  std::size_t count_ = 0;
};

} // namespace warpwright::runner::cpu
