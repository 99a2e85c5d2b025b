// sm_80 sm_90a sm_100a sm_120
#include "../window_tile.cuh"

template <typename T, int kOutputs, bool kShared> struct WindowsConfig {
  using Value = T;
  static __device__ T fill() { return T(0); }
  static __device__ T initial() { return T(0); }
  static constexpr int kAllPlanes = 12, kID = 1, kIH = 32, kIW = 32, kOD = 1, kOH = 16, kOW = 16, kKD = 1, kKH = 3, kKW = 3;
  static constexpr int kSD = 1, kSH = 2, kSW = 2, kPD = 0, kPH = 1, kPW = 1, kDD = 1, kDH = 1, kDW = 1;
  static constexpr int kThreads = 128, kWidth = 16, kHeight = 4, kPlanes = 2, kRows = 2, kColumns = kOutputs, kTilesW = 1, kTilesH = 2;
  static constexpr bool kStaged = kShared;
  static constexpr int kStageUnroll = 4, kDepthUnroll = 1;
};

template <int kOutputs, bool kShared, typename T> __device__ void sums(const T *from, T *to) {
  const auto load = [&](int plane, int d, int h, int w, T &value) { value = from[plane + d + h + w]; };
  const warpwright_windows::Windows<WindowsConfig<T, kOutputs, kShared>> windows(load);
  if (!windows.inside)
    return;
  windows.make(
      load, [&](int plane, int d, int h, int w4, T *four) { four[0] = from[plane + d + h + 4 * w4]; },
      [&](T &sum, const T(&v)[3], int kd, int kh) { sum += v[0] * (kd + kh); },
      [&](T sum, int od, int oh, int ow) { return sum / (od + oh + ow); },
      [&](int od, int oh, int ow, T element) { to[windows.plane + od + oh + ow] = element; },
      [&](int od, int oh, int ow4, const T(&elements)[4]) { to[windows.plane + od + oh + 4 * ow4] = elements[0]; });
}

__global__ void windows_of_memory(const float *from, float *to) { sums<1, false>(from, to); }
__global__ void windows_of_vectors(const float *from, float *to) { sums<4, false>(from, to); }
__global__ void windows_of_shared_memory(const float *from, float *to) { sums<1, true>(from, to); }
__global__ void windows_of_doubles(const double *from, double *to) { sums<4, false>(from, to); }
