// Arithmetic of convolution.cuh on the tensor cores of sm_80 and later: mma.m16n8k8 in TF32, sums
// in FP32.
//
// Operands are rounded to nearest once, as they enter shared memory. Which row of a fragment stands
// for which pixel is free, so four neighbouring pixels (and channels) are one load of 16 bytes; row
// strides of 8 modulo 32 words keep those free of bank conflicts.
#ifndef WARPWRIGHT_CONVOLUTION_MMA
#define WARPWRIGHT_CONVOLUTION_MMA

namespace warpwright_convolution {

// A generation with another instruction for this product brings its own function, and says so.
#ifndef WARPWRIGHT_OWN_MULTIPLY_TF32
__device__ __forceinline__ void multiply_tf32(float *sum, float a0, float a1, float a2, float a3, float b0,
                                              float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)),
        "r"(__float_as_uint(a3)), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
#endif

// A warp makes kWarpPixels by kWarpChannels of the tile.
template <typename C> struct Mma {
  using Weights = RowWeights<C, Mma>;
  static constexpr int kWM = C::kWarpPixels, kWN = C::kWarpChannels;
  static constexpr int kPasses = kWN / 32, kStagedRows = C::kChannels / kWN * 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4, t = lane % 4;
  const int warp_m = warp % (C::kPixels / kWM), warp_n = warp / (C::kPixels / kWM);
  float sums[kWM / 16][kWN / 8][4];

  static __device__ __forceinline__ float round(float value) { return round_tf32(value); }

  __device__ __forceinline__ Mma() {
#pragma unroll
    for (int i = 0; i < kWM / 16; ++i)
#pragma unroll
      for (int j = 0; j < kWN / 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          sums[i][j][e] = 0;
  }

  __device__ __forceinline__ void multiply(const float *a_tile, const float *b_tile) {
#pragma unroll
    for (int k = 0; k < C::kDepth; k += 8) {
      float4 a[kWM / 32][2], b[kWN / 32][2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int i = 0; i < kWM / 32; ++i)
          a[i][half] = *reinterpret_cast<const float4 *>(
              a_tile + (k + t + 4 * half) * (C::kPixels + 8) + warp_m * kWM + i * 32 + quad * 4);
#pragma unroll
        for (int j = 0; j < kWN / 32; ++j)
          b[j][half] = *reinterpret_cast<const float4 *>(
              b_tile + (k + t + 4 * half) * Weights::kStride + warp_n * kWN + j * 32 + quad * 4);
      }
#pragma unroll
      for (int i = 0; i < kWM / 32; ++i)
#pragma unroll
        for (int j = 0; j < kWN / 32; ++j) {
          const float b0[4] = {b[j][0].x, b[j][0].y, b[j][0].z, b[j][0].w};
          const float b1[4] = {b[j][1].x, b[j][1].y, b[j][1].z, b[j][1].w};
#pragma unroll
          for (int c = 0; c < 4; ++c) {
            multiply_tf32(sums[i * 2][j * 4 + c], a[i][0].x, a[i][0].y, a[i][1].x, a[i][1].y, b0[c], b1[c]);
            multiply_tf32(sums[i * 2 + 1][j * 4 + c], a[i][0].z, a[i][0].w, a[i][1].z, a[i][1].w, b0[c], b1[c]);
          }
        }
    }
  }

  __device__ __forceinline__ void stage(int pass, float *shared) const {
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int i = 0; i < kWM / 32; ++i) {
          const int j = pass * 4 + c;
          *reinterpret_cast<float4 *>(shared + (warp_n * 32 + c * 8 + 2 * t + e) * (C::kPixels + 4) + warp_m * kWM +
                                      i * 32 + quad * 4) =
              make_float4(sums[2 * i][j][e], sums[2 * i][j][e + 2], sums[2 * i + 1][j][e],
                          sums[2 * i + 1][j][e + 2]);
        }
  }

  static __device__ __forceinline__ int row_channel(int pass, int row) {
    return row / 32 * kWN + pass * 32 + row % 8 * 4 + row % 32 / 8;
  }
};

} // namespace warpwright_convolution
#endif
