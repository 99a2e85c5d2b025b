// Memory accounting of an analysis by a replaced `operator new`, which Clang and the standard
// library use.
//
// Only threads with a budget are counted; other threads pay for one test per call. Buffers that
// LLVM takes with malloc (grown small vectors, keys of string maps) are not counted. The arenas of
// syntax trees, macros and source text are counted and make up nearly all of the memory. The
// replacement is disabled under sanitizers, which replace the same functions and have their own
// limits. Thread: any.
#include "support/budget.h"

#include <cstdlib>
#include <malloc.h>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define WARPWRIGHT_COUNTS_MEMORY 0
#endif
#endif
#ifndef WARPWRIGHT_COUNTS_MEMORY
#define WARPWRIGHT_COUNTS_MEMORY 1
#endif

#if WARPWRIGHT_COUNTS_MEMORY

namespace {

void *counted(void *memory) {
  if (!memory)
    throw std::bad_alloc();
  auto *budget = warpwright::current_budget;
  if (budget && !budget->allocate(malloc_usable_size(memory))) {
    budget->release(malloc_usable_size(memory));
    std::free(memory);
    throw std::bad_alloc();
  }
  return memory;
}

void freed(void *memory) noexcept {
  if (auto *budget = warpwright::current_budget; budget && memory)
    budget->release(malloc_usable_size(memory));
  std::free(memory);
}

void *aligned(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit + (size ? 0 : unit)));
}

} // namespace

void *operator new(std::size_t size) { return counted(std::malloc(size ? size : 1)); }
void *operator new[](std::size_t size) { return counted(std::malloc(size ? size : 1)); }
void *operator new(std::size_t size, std::align_val_t alignment) { return aligned(size, alignment); }
void *operator new[](std::size_t size, std::align_val_t alignment) { return aligned(size, alignment); }
void operator delete(void *memory) noexcept { freed(memory); }
void operator delete[](void *memory) noexcept { freed(memory); }
void operator delete(void *memory, std::size_t) noexcept { freed(memory); }
void operator delete[](void *memory, std::size_t) noexcept { freed(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { freed(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { freed(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { freed(memory); }
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept { freed(memory); }

#endif
