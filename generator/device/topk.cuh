// The k largest elements of rows, with their places (families/topk).
//
// A key holds an element and its place, so that no two keys are equal: the element's bits in the
// order of the numbers, above the place, of which the lower wins. The lanes of a warp hold the k
// largest keys so far in descending order. A warp reads its row and inserts the few elements that
// are larger than the last of them. Several warps may share a row; the first one inserts what the
// others found.
#ifndef WARPWRIGHT_TOPK
#define WARPWRIGHT_TOPK

namespace warpwright_topk {

typedef unsigned long long Key;

// NaN counts as the largest number, as in PyTorch.
// @tparam kLargest false: the smallest numbers have the largest keys
template <bool kLargest> __device__ __forceinline__ Key key_of(float element, int place) {
  const unsigned bits = static_cast<unsigned>(__float_as_int(element + 0.0f)); // -0 is 0
  const unsigned ordered = element != element ? 0xffffffffu : bits >> 31 ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(kLargest ? ordered : ~ordered) << 32 | static_cast<unsigned>(~place);
}
template <bool kLargest> __device__ __forceinline__ Key key_of(int element, int place) {
  const unsigned ordered = static_cast<unsigned>(element) ^ 0x80000000u;
  return static_cast<Key>(kLargest ? ordered : ~ordered) << 32 | static_cast<unsigned>(~place);
}

// @tparam Config kThreads of a block; kWarps of a row; kRows; kLength of a row; kCount of the
//         results; kVector: elements that load() gives at once; kUnroll: loads in flight;
//         kLargest; kSorted: see number_of(); Element
template <typename Config> struct TopK {
  static constexpr int kHeld = (Config::kCount + 31) / 32, kRowsOfBlock = Config::kThreads / 32 / Config::kWarps;
  static constexpr unsigned kAll = 0xffffffffu;

  Key keys[kHeld]; // number r * 32 + lane
  Key last;        // the least that stays

  // Puts in order the keys of the lanes that have a larger one than `last`.
  __device__ __forceinline__ void insert(Key own) {
    const int lane = threadIdx.x % 32;
    for (unsigned open = __ballot_sync(kAll, own > last); open != 0; open &= open - 1) {
      const Key key = __shfl_sync(kAll, own, __ffs(static_cast<int>(open)) - 1);
      if (key <= last)
        continue;
#pragma unroll
      for (int r = kHeld - 1; r >= 0; --r) {
        Key before = __shfl_up_sync(kAll, keys[r], 1);
        const Key carried = r > 0 ? __shfl_sync(kAll, keys[r > 0 ? r - 1 : 0], 31) : ~Key(0);
        if (lane == 0)
          before = carried;
        if (keys[r] < key)
          keys[r] = before > key ? key : before;
      }
      last = __shfl_sync(kAll, keys[kHeld - 1], (Config::kCount - 1) % 32);
    }
  }

  // @param load (row, k, Element *values): elements from k * kVector on; called only within the row
  // @param store (row, number, place)
  template <typename Load, typename Store> __device__ __forceinline__ void run(Load load, Store store) {
    constexpr int kGroups = (Config::kLength + Config::kVector - 1) / Config::kVector, kLanes = Config::kWarps * 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % Config::kWarps;
    const int row = blockIdx.x * kRowsOfBlock + threadIdx.x / 32 / Config::kWarps;
    const bool there = row < Config::kRows;
    last = 0;
#pragma unroll
    for (int r = 0; r < kHeld; ++r)
      keys[r] = 0;
    for (int first = warp * 32; there && first < kGroups; first += kLanes * Config::kUnroll) {
      typename Config::Element elements[Config::kUnroll][Config::kVector];
#pragma unroll
      for (int u = 0; u < Config::kUnroll; ++u)
        if (const int group = first + u * kLanes + lane; group < kGroups)
          load(row, group, elements[u]);
#pragma unroll
      for (int u = 0; u < Config::kUnroll; ++u) {
        const int group = first + u * kLanes + lane;
#pragma unroll
        for (int v = 0; v < Config::kVector; ++v)
          insert(group < kGroups ? key_of<Config::kLargest>(elements[u][v], group * Config::kVector + v) : Key(0));
      }
    }
    if constexpr (Config::kWarps > 1) {
      __shared__ Key found[Config::kThreads / 32][kHeld * 32];
#pragma unroll
      for (int r = 0; r < kHeld; ++r)
        found[threadIdx.x / 32][r * 32 + lane] = keys[r];
      __syncthreads();
      if (warp != 0)
        return;
      for (int other = 1; other < Config::kWarps; ++other)
#pragma unroll
        for (int r = 0; r < kHeld; ++r)
          insert(r * 32 + lane < Config::kCount ? found[threadIdx.x / 32 + other][r * 32 + lane] : Key(0));
    }
#pragma unroll
    for (int r = 0; r < kHeld; ++r) {
      const int number = Config::kSorted ? r * 32 + lane : number_of(keys[r], r * 32 + lane);
      if (there && r * 32 + lane < Config::kCount)
        store(row, number, static_cast<int>(~static_cast<unsigned>(keys[r])));
    }
  }

  // @param number of the key in descending order
  // @return its number in the order in which PyTorch gives unsorted results: by places, with
  //         elements equal to the last one at the end
  __device__ __forceinline__ int number_of(Key key, int number) const {
    int before = 0;
#pragma unroll
    for (int r = 0; r < kHeld; ++r)
      for (int lane = 0; lane < 32; ++lane) {
        const Key other = __shfl_sync(kAll, keys[r], lane);
        before += other >> 32 > last >> 32 && static_cast<unsigned>(other) > static_cast<unsigned>(key);
      }
    return key >> 32 > last >> 32 ? before : number;
  }
};

} // namespace warpwright_topk
#endif
