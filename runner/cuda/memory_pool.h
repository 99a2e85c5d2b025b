// Device memory between two buffers: what one gives back, the next of its size takes.
//
// A verification makes hundreds of buffers of few sizes, and the driver maps and unmaps memory at each call, with the device idle. What
// is kept is bounded, and the oldest goes first, since several workers may share a device and sizes of an earlier job are not asked for
// again. A buffer that is taken holds whatever was there: as with fresh memory, nobody may rely on it. This calls no driver: the
// device makes and frees. Thread: the job thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace warpwright::runner::cuda {

class MemoryPool {
public:
  using Address = std::uint64_t;

  /// @param most_bytes kept at a time; larger blocks are never kept
  void set_limit(std::size_t most_bytes) { most_bytes_ = most_bytes; }
  /// A block of exactly this size that is kept; it is in use from now on. nullopt: none.
  std::optional<Address> take(std::size_t size_bytes);
  /// A block that the driver made is in use.
  void add(Address block, std::size_t size_bytes) { used_[block] = size_bytes; }
  /// Nobody uses the block any more. @return blocks to be freed: this one, or older ones that it replaces
  std::vector<Address> give_back(Address block);
  /// Keeps nothing any more. @return blocks to be freed
  std::vector<Address> empty();

private:
  struct Kept {
    Address block;
    std::size_t size_bytes;
  };
  std::size_t most_bytes_ = 0, kept_bytes_ = 0;
  std::unordered_map<Address, std::size_t> used_;
  std::list<Kept> kept_; ///< the oldest first
};

} // namespace warpwright::runner::cuda
