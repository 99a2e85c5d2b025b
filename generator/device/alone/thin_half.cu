// sm_80 sm_90a sm_100a sm_120
#include "../half_mma.cuh"
#include "../thin_half.cuh"

template <int kCount, int kPairs> struct ThinSizes {
  static constexpr int kRows = 1000, kVectors = kCount, kDepth = 1032, kBatches = 2, kWarps = 8, kUnroll = 2, kTwins = kPairs;
  static constexpr bool kBFloat16 = kPairs;
};

template <class C, int kWide> __device__ void multiply(const unsigned short *a, const unsigned short *b, float *c) {
  warpwright_thin_half::Product<C>::template run<kWide>(
      blockIdx.x, gridDim.x, [&](int which, int batch, int row) { return a + (which + batch + row) * C::kDepth; },
      [&](int batch, int row) { return b + (batch + row) * C::kDepth; },
      [&](int batch, int row, int vector, const float (&values)[kWide], const float (&others)[kWide]) {
        c[batch + row + vector] = values[0] + others[kWide - 1];
      });
}

__global__ void __launch_bounds__(256) single(const unsigned short *a, const unsigned short *b, float *c) {
  multiply<ThinSizes<1, 0>, 1>(a, b, c);
}
__global__ void __launch_bounds__(256) twins(const unsigned short *a, const unsigned short *b, float *c) {
  multiply<ThinSizes<32, 1>, 4>(a, b, c);
}
