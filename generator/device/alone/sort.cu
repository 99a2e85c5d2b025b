// sm_80 sm_90a sm_100a sm_120
#include "../topk.cuh"
#include "../sort.cuh"

using namespace warpwright_topk;

template <typename T, int kOfRow, int kOfThread, bool kDescending> struct SortConfig {
  using Element = T;
  static constexpr int kThreads = 256, kLanes = kOfRow, kHeld = kOfThread, kRows = 77, kLength = kLanes * kHeld - 2, kCount = kLength, kVector = 2;
  static constexpr bool kLargest = kDescending;
};

template <typename Config> __device__ void places(const typename Config::Element *from, long long *to) {
  Sort<Config> sort;
  sort.run([&](int row, int k, typename Config::Element *values) { values[0] = from[row + k]; values[1] = from[row + k + 1]; },
           [&](int row, int number, int place) { to[row + number] = place; });
}

__global__ void descending(const float *from, long long *to) { places<SortConfig<float, 256, 16, true>>(from, to); }
__global__ void ascending(const int *from, long long *to) { places<SortConfig<int, 1, 8, false>>(from, to); }
