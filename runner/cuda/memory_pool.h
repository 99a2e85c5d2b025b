// Pool of freed device memory for reuse by later buffers of the same size.
//
// A verification makes hundreds of buffers of few sizes, and the driver maps and unmaps memory at
// each call, while the device is idle. The pool's size is bounded and the oldest blocks leave
// first, because several workers may share a device and later jobs do not need the sizes of earlier
// ones. The content of a reused block is unspecified, as with new memory. The pool makes no driver
// calls: the device allocates and frees. Thread: the job thread.
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

  /// @param most_bytes bound on the total size of kept blocks; larger blocks are never kept
  void set_limit(std::size_t most_bytes) { most_bytes_ = most_bytes; }
  /// Takes a kept block of exactly this size, which is then in use. nullopt if there is none.
  std::optional<Address> take(std::size_t size_bytes);
  /// Registers a newly allocated block as in use.
  void add(Address block, std::size_t size_bytes) { used_[block] = size_bytes; }
  /// Returns a block to the pool. @return blocks to free: this one, or older ones that it replaces
  std::vector<Address> give_back(Address block);
  /// Removes all kept blocks from the pool. @return the blocks to free
  std::vector<Address> empty();

private:
  struct Kept {
    Address block;
    std::size_t size_bytes;
  };
  std::size_t most_bytes_ = 0, kept_bytes_ = 0;
  std::unordered_map<Address, std::size_t> used_;
  std::list<Kept> kept_; ///< oldest first
};

} // namespace warpwright::runner::cuda
