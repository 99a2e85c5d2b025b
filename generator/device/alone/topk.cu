// sm_80 sm_90a sm_100a sm_120
#include "../topk.cuh"

using namespace warpwright_topk;

template <typename T, int kOfRow, int kNumber, bool kDescending> struct TopKConfig {
  using Element = T;
  static constexpr int kThreads = 128, kWarps = kOfRow, kRows = 77, kLength = 1000, kCount = kNumber, kVector = 2, kUnroll = 4;
  static constexpr bool kLargest = kDescending, kSorted = kDescending;
};

template <typename Config> __device__ void places(const typename Config::Element *from, long long *to) {
  TopK<Config> top;
  top.run([&](int row, int k, typename Config::Element *values) { values[0] = from[row + k]; values[1] = from[row + k + 1]; },
          [&](int row, int number, int place) { to[row + number] = place; });
}

__global__ void largest(const float *from, long long *to) { places<TopKConfig<float, 1, 16, true>>(from, to); }
__global__ void smallest(const int *from, long long *to) { places<TopKConfig<int, 4, 50, false>>(from, to); }
