// A map that keeps the newest entries within a limit of bytes. Thread: one at a time.
#pragma once

#include <deque>
#include <map>
#include <string>

namespace warpwright::runner::fleet {

template <class Value>
class Recent {
public:
  explicit Recent(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void put(const std::string &key, Value value, std::size_t size_bytes) {
    if (const auto [entry, is_new] = entries_.try_emplace(key, std::move(value)); !is_new) {
      entry->second = std::move(value); // keeps its position in the order and its counted size
      return;
    }
    order_.emplace_back(key, size_bytes + key.size());
    bytes_ += order_.back().second;
    while (bytes_ > max_bytes_) {
      bytes_ -= order_.front().second;
      entries_.erase(order_.front().first);
      order_.pop_front();
    }
  }
  /// nullptr: unknown or no longer remembered.
  const Value *find(const std::string &key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
  }

private:
  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::map<std::string, Value> entries_;
  std::deque<std::pair<std::string, std::size_t>> order_; ///< oldest first, with sizes
};

} // namespace warpwright::runner::fleet
