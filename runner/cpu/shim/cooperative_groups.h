// cooperative_groups: thread blocks, tiles of a warp, coalesced groups, and reduce() on them. Grid
// synchronization and clusters are refused.
#pragma once
#pragma clang force_cuda_host_device begin

namespace cooperative_groups {

class thread_block {
public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return __ww_linear_thread(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
typedef thread_block thread_group;
__WW_FUNCTION thread_block this_thread_block() { return {}; }
__WW_FUNCTION void sync(const thread_block &group) { group.sync(); }

class grid_group {
public:
  static unsigned long long thread_rank() {
    unsigned long long block = ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long size() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * thread_block::size();
  }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return gridDim; }
  void sync() const __WW_UNSUPPORTED("synchronisation of a whole grid");
};
__WW_FUNCTION grid_group this_grid() { return {}; }

/// A group of lanes of the running warp, given by the bit mask `mask_` and ranked by lane number.
class __ww_lanes {
protected:
  unsigned mask_;
  __ww_lanes(unsigned mask) : mask_(mask) {}
  unsigned lane_of(unsigned rank) const {
    unsigned rest = mask_;
    for (; rank; --rank)
      rest &= rest - 1;
    return rest ? (unsigned)__builtin_ctz(rest) : 0u;
  }
  unsigned ranks(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (mask_ >> lane & 1u)
        result |= (lanes >> lane & 1u) << rank++;
    return result;
  }

public:
  unsigned thread_rank() const { return __popc(mask_ & ((1u << __ww_lane()) - 1u)); }
  unsigned size() const { return __popc(mask_); }
  unsigned num_threads() const { return size(); }
  void sync() const { __syncwarp(mask_); }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  unsigned ballot(int predicate) const { return ranks(__ballot_sync(mask_, predicate)); }
  template <class T> unsigned match_any(T value) const { return ranks(__match_any_sync(mask_, value)); }
  template <class T> T shfl(T value, int rank) const { return __shfl_sync(mask_, value, (int)lane_of(rank)); }
  unsigned __ww_mask() const { return mask_; }
};

class coalesced_group : public __ww_lanes {
public:
  coalesced_group(unsigned mask) : __ww_lanes(mask) {}
  template <class T> T shfl_down(T value, unsigned delta) const {
    unsigned rank = thread_rank() + delta;
    return __shfl_sync(mask_, value, (int)(rank < size() ? lane_of(rank) : __ww_lane()));
  }
  template <class T> T shfl_up(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, value, (int)(rank >= delta ? lane_of(rank - delta) : __ww_lane()));
  }
};
__WW_FUNCTION coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// Applies `shuffle` to each 32-bit word of a value. Tiles shuffle trivially copyable values of at
// most 32 bytes.
template <class T, class Shuffle> __WW_FUNCTION T __ww_by_words(T value, Shuffle shuffle) {
  static_assert(sizeof(T) <= 32, "a tile shuffles at most 32 bytes");
  unsigned words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (unsigned &word : words)
    word = shuffle(word);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

template <unsigned Size, class Parent = void>
class thread_block_tile : public __ww_lanes {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "tiles of more than a warp are not supported on the CPU");

public:
  thread_block_tile()
      : __ww_lanes((Size == 32 ? 0xffffffffu : (1u << (Size & 31u)) - 1u) << (__ww_lane() & ~(Size - 1u))) {}
  // Converts a tile with a parent type to a tile without one.
  template <class Other> thread_block_tile(const thread_block_tile<Size, Other> &) : thread_block_tile() {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return __ww_linear_thread() & (Size - 1u); }
  static unsigned meta_group_rank() { return __ww_linear_thread() / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1u) / Size; }
  template <class T> T shfl(T value, int rank) const {
    return __ww_by_words(value, [&](unsigned word) { return __shfl_sync(mask_, word, rank, Size); });
  }
  template <class T> T shfl_up(T value, unsigned d) const {
    return __ww_by_words(value, [&](unsigned word) { return __shfl_up_sync(mask_, word, d, Size); });
  }
  template <class T> T shfl_down(T value, unsigned d) const {
    return __ww_by_words(value, [&](unsigned word) { return __shfl_down_sync(mask_, word, d, Size); });
  }
  template <class T> T shfl_xor(T value, int m) const {
    return __ww_by_words(value, [&](unsigned word) { return __shfl_xor_sync(mask_, word, m, Size); });
  }
};
template <unsigned Size, class Parent>
__WW_FUNCTION thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  return {};
}

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <unsigned Size, class Parent, class T, class Operation>
__WW_FUNCTION T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation) {
  for (unsigned distance = Size / 2; distance > 0; distance /= 2)
    value = operation(value, tile.shfl_xor(value, (int)distance));
  return value;
}
template <class T, class Operation>
__WW_FUNCTION T reduce(const coalesced_group &group, T value, Operation operation) {
  T result = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank)
    result = operation(result, group.shfl(value, (int)rank));
  return result;
}

struct cluster_group {};
cluster_group this_cluster() __WW_UNSUPPORTED("thread block clusters");
template <class Group, class... Rest>
void memcpy_async(const Group &, Rest...) __WW_UNSUPPORTED("memcpy_async");
template <class Group, class... Rest>
void wait(const Group &, Rest...) __WW_UNSUPPORTED("memcpy_async");

} // namespace cooperative_groups
#pragma clang force_cuda_host_device end
