// sm_80 sm_90a sm_100a sm_120
#include "../window_channels.cuh"

template <typename T, bool kRows> struct ChannelsConfig {
  using Value = T;
  using Number = int;
  static __device__ T initial() { return T(0); }
  static constexpr int kID = 1, kIH = 32, kIW = 32, kOD = 1, kOH = 16, kOW = 16, kKD = 1, kKH = 3, kKW = 3;
  static constexpr int kSD = 1, kSH = 2, kSW = 2, kPD = 0, kPH = 1, kPW = 1, kDD = 1, kDH = 1, kDW = 1;
  static constexpr int kBatch = 2, kVector = 4, kVectors = 16, kColumns = 4, kGroupsW = 4, kThreads = 128, kLanes = 16, kChannelBlocks = 1;
  static constexpr bool kStoresRows = kRows;
  static constexpr int kUnrollD = 1, kUnrollH = 3;
};

template <bool kRows, typename T> __device__ void sums(const T *from, T *to) {
  warpwright_windows::Channels<ChannelsConfig<T, kRows>>::run(
      [&](int n, int c1, int d, int h, int w, T(&values)[4]) {
        for (int i = 0; i < 4; ++i)
          values[i] = from[n + 4 * c1 + i + d + h + w];
      },
      [&](int c1, int i, int kd, int kh, int from, T value, T &sum) { sum += value * (c1 + i + kd + kh + from); },
      [&](int c1, int i, T sum, int od, int oh, int ow) { return sum / (c1 + i + od + oh + ow); },
      [&](int n, int c1, int od, int oh, int ow, const T(&elements)[4]) { to[n + c1 + od + oh + ow] = elements[0]; },
      [&](int n, int c, int od, int oh, int ow4, const T(&elements)[4]) { to[n + c + od + oh + ow4] = elements[0]; });
}

__global__ void channels(const float *from, float *to) { sums<false>(from, to); }
__global__ void channels_stored_by_rows(const double *from, double *to) { sums<true>(from, to); }
