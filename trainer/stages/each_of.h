// A loop whose turns wait for children and devices, several at a time. Thread: the caller's, which waits; turns run on their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace warpwright::trainer {

/// Calls turn(i) for each i below `count`, in order of their beginning, up to `at_once` at a time. With one at a time, on this thread.
template <class Turn>
void each_of(std::size_t count, int at_once, Turn turn) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      turn(i);
  };
  if (at_once <= 1 || count <= 1)
    return work();
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::size_t(at_once) && i < count; ++i)
    threads.emplace_back(work);
}

} // namespace warpwright::trainer
