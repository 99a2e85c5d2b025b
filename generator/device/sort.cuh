// Rows in descending order of keys, with the places of their elements (families/topk).
//
// A bitonic network over the keys of topk.cuh. A thread holds the keys of adjacent numbers of the
// order. It compares them with each other, with another lane's by a shuffle, or with another warp's
// through shared memory. A key holds its element's place, so an element may enter anywhere, and
// neighbors read adjacent elements. Results pass through shared memory, so that neighbors store
// adjacent numbers.
#ifndef WARPWRIGHT_SORT
#define WARPWRIGHT_SORT

namespace warpwright_topk {

// @tparam Config kThreads of a block; kLanes: threads of a row; kHeld: keys of a thread; kLanes and kHeld are powers of
//         two, and kLanes * kHeld at least kLength; otherwise as TopK's
template <typename Config> struct Sort {
  static constexpr int kHeld = Config::kHeld, kLanes = Config::kLanes, kTotal = kHeld * kLanes;
  static constexpr int kRowsOfBlock = Config::kThreads / kLanes, kGroups = kHeld / Config::kVector;
  static constexpr unsigned kAll = 0xffffffffu;

  Key keys[kHeld]; // number lane * kHeld + r
  int lane;

  static __device__ __forceinline__ void order(Key &first, Key &second, bool descends) {
    const Key larger = first > second ? first : second, smaller = first > second ? second : first;
    first = descends ? larger : smaller;
    second = descends ? smaller : larger;
  }

  // Sequences of `size` numbers, each of which rises and then falls, or the reverse, become sorted: every other one up.
  __device__ __forceinline__ void merge(int size, Key (*shared)[kHeld][Config::kThreads]) {
    const bool descends = (lane * kHeld & size) == 0;
    for (int apart = size / 2 / kHeld; apart > 0; apart /= 2) { // in threads
      const bool keeps_larger = ((lane & apart) == 0) == descends;
      if (apart >= 32) {
        __syncthreads();
#pragma unroll
        for (int r = 0; r < kHeld; ++r)
          (*shared)[r][threadIdx.x] = keys[r];
        __syncthreads();
      }
#pragma unroll
      for (int r = 0; r < kHeld; ++r) {
        const Key other = apart < 32 ? __shfl_xor_sync(kAll, keys[r], apart) : (*shared)[r][threadIdx.x ^ apart];
        keys[r] = (keys[r] > other) == keeps_larger ? keys[r] : other;
      }
    }
#pragma unroll
    for (int apart = kHeld / 2; apart > 0; apart /= 2)
      if (2 * apart <= size)
#pragma unroll
        for (int r = 0; r < kHeld; ++r)
          if ((r & apart) == 0)
            order(keys[r], keys[r + apart], ((lane * kHeld + r) & size) == 0);
  }

  // @param load, store as TopK::run()'s
  template <typename Load, typename Store> __device__ __forceinline__ void run(Load load, Store store) {
    __shared__ Key shared[kHeld][Config::kThreads];
    lane = threadIdx.x % kLanes;
    const int of_block = threadIdx.x / kLanes, row = blockIdx.x * kRowsOfBlock + of_block;
    const bool there = row < Config::kRows;
    typename Config::Element elements[kGroups][Config::kVector];
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      if (const int group = g * kLanes + lane; there && group * Config::kVector < Config::kLength)
        load(row, group, elements[g]);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int first = (g * kLanes + lane) * Config::kVector;
#pragma unroll
      for (int v = 0; v < Config::kVector; ++v)
        keys[g * Config::kVector + v] = there && first < Config::kLength ? key_of<Config::kLargest>(elements[g][v], first + v) : Key(0);
    }
    for (int size = 2; size <= kTotal; size *= 2)
      merge(size, &shared);
    __syncthreads();
    Key *const sorted = &shared[0][0] + of_block * kTotal;
#pragma unroll
    for (int r = 0; r < kHeld; ++r)
      sorted[lane * kHeld + r] = keys[r];
    __syncthreads();
    for (int number = lane; there && number < Config::kCount; number += kLanes)
      store(row, number, static_cast<int>(~static_cast<unsigned>(sorted[number])));
  }
};

} // namespace warpwright_topk
#endif
