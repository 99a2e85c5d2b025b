// Implementation of MemoryPool. take() returns the newest block of a size, so the oldest blocks in
// the pool are those that no buffer has needed for a while.
#include "runner/cuda/memory_pool.h"

#include <algorithm>

namespace warpwright::runner::cuda {

std::optional<MemoryPool::Address> MemoryPool::take(std::size_t size_bytes) {
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [size_bytes](const Kept &kept) {
    return kept.size_bytes == size_bytes;
  });
  if (found == kept_.rend())
    return std::nullopt;
  const Address block = found->block;
  kept_.erase(std::next(found).base());
  kept_bytes_ -= size_bytes;
  add(block, size_bytes);
  return block;
}

std::vector<MemoryPool::Address> MemoryPool::give_back(Address block) {
  const auto used = used_.find(block);
  const std::size_t size_bytes = used == used_.end() ? 0 : used->second;
  if (used != used_.end())
    used_.erase(used);
  if (size_bytes == 0 || size_bytes > most_bytes_)
    return {block};
  kept_.push_back({block, size_bytes});
  kept_bytes_ += size_bytes;
  std::vector<Address> replaced;
  while (kept_bytes_ > most_bytes_) {
    replaced.push_back(kept_.front().block);
    kept_bytes_ -= kept_.front().size_bytes;
    kept_.pop_front();
  }
  return replaced;
}

std::vector<MemoryPool::Address> MemoryPool::empty() {
  std::vector<Address> blocks;
  for (const Kept &kept : kept_)
    blocks.push_back(kept.block);
  kept_.clear();
  kept_bytes_ = 0;
  return blocks;
}

} // namespace warpwright::runner::cuda
