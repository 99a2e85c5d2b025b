// Sums of products in plain FP32, for what products of parts on tensor cores leave in doubt.
#ifndef WARPWRIGHT_SUM_AGAIN
#define WARPWRIGHT_SUM_AGAIN

namespace warpwright_again {

// Sums over k in [first, last), by a warp; each lane gets them. `load_a(k)`, and `load_b(k, j)` of the j-th neighbour.
template <int kWide, typename LoadA, typename LoadB>
__device__ __forceinline__ void add(int first, int last, LoadA load_a, LoadB load_b,
                                    float (&sums)[kWide]) {
#pragma unroll
  for (int j = 0; j < kWide; ++j)
    sums[j] = 0.0f;
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int k = first; k < last; k += 128) {
#pragma unroll
    for (int i = 0; i < 128; i += 32)
      if (const int at = k + i + lane; at < last) {
        const float a = load_a(at);
#pragma unroll
        for (int j = 0; j < kWide; ++j)
          sums[j] = fmaf(a, load_b(at, j), sums[j]);
      }
    bool numbers = false; // once none is a number, none will be
#pragma unroll
    for (int j = 0; j < kWide; ++j)
      numbers |= __all_sync(0xffffffffu, sums[j] == sums[j]) != 0;
    if (!numbers)
      break;
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
#pragma unroll
    for (int j = 0; j < kWide; ++j)
      sums[j] += __shfl_xor_sync(0xffffffffu, sums[j], distance);
}

} // namespace warpwright_again
#endif
