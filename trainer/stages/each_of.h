// Parallel loop for turns that wait for child processes and devices. Thread: any; the caller waits, and turns run on
// threads of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace warpwright::trainer {

/// Calls turn(i) for each i below `count`, up to `at_once` at a time; turns start in order. With one at a time, the
/// turns run on the caller's thread.
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
