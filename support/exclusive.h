// Value that several threads use one at a time. The value and its mutex are one object, so the
// value cannot be reached without the lock. Thread: any.
#pragma once

#include <mutex>
#include <utility>

namespace warpwright {

template <class T>
class Exclusive {
public:
  template <class... Arguments>
  explicit Exclusive(Arguments &&...arguments) : value_(std::forward<Arguments>(arguments)...) {}

  /// Waits for the lock and calls work(value) under it.
  template <class Work>
  decltype(auto) with(Work &&work) {
    const std::lock_guard lock(mutex_);
    return std::forward<Work>(work)(value_);
  }

  /// Calls work(value) if the lock is free. @return whether it was called
  template <class Work>
  bool try_with(Work &&work) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock)
      std::forward<Work>(work)(value_);
    return lock.owns_lock();
  }

private:
  std::mutex mutex_;
  T value_;
};

} // namespace warpwright
