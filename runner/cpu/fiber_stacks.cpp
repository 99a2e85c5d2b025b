// Implementation of FiberStacks with a single mapping for all stacks.
#include "runner/cpu/fiber_stacks.h"

#include <sys/mman.h>
#include <unistd.h>

namespace warpwright::runner::cpu {
namespace {
const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); // 64 KiB on some Arm systems
const std::size_t kSlot = FiberStacks::kStackBytes + kPage;
} // namespace

FiberStacks::~FiberStacks() {
  if (memory_)
    ::munmap(memory_, kSlot * count_);
}

bool FiberStacks::reserve(std::size_t count) {
  if (count <= count_)
    return true;
  void *fresh = ::mmap(nullptr, kSlot * count, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED)
    return false;
  if (memory_)
    ::munmap(memory_, kSlot * count_);
  memory_ = static_cast<char *>(fresh);
  count_ = count;
  for (std::size_t i = 0; i < count; ++i)
    ::mprotect(memory_ + i * kSlot, kPage, PROT_NONE);
  return true;
}

void *FiberStacks::top(std::size_t index) const {
  return memory_ + (index + 1) * kSlot - (index % 16) * 192;
}

bool FiberStacks::is_guard(std::uintptr_t address) const {
  const auto start = reinterpret_cast<std::uintptr_t>(memory_);
  return memory_ && address >= start && address < start + kSlot * count_ &&
         (address - start) % kSlot < kPage;
}

} // namespace warpwright::runner::cpu
