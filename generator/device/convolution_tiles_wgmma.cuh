// Arithmetic of convolution_tiles.cuh on sm_90's tensor cores: TF32, or FP32-accurate products as
// three of TF32 (kSplit).
//
// wgmma takes its first operand from registers, read right out of the block's input in shared
// memory: lane (quad, t) holds positions quad and quad + 8 of its warp's sixteen at channels t and
// t + 4. Taps go in batches that fit registers. Split sums leave the tensor core every few taps,
// because it truncates.
#ifndef WARPWRIGHT_CONVOLUTION_TILES_WGMMA
#define WARPWRIGHT_CONVOLUTION_TILES_WGMMA

namespace warpwright_tiles {

using namespace warpwright_convolution;

template <typename C, bool kSplit> struct WarpgroupSums {
  static constexpr int kCopies = kSplit ? 2 : 1;
  static constexpr int kM = C::kFragments, kN = C::kColumns, kSums = C::kTogether * kM;
  static constexpr int kBatch = (kSplit ? 4 : 8) / kM; // taps whose inputs are in registers together
  static constexpr int kPart = 8;                      // taps whose split sums stay in the tensor core
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4, t = lane % 4;
  int at[kM][2];
  float sums[kSums][kN / 2];

  static __device__ __forceinline__ void copy_16(float *to, const float *from) {
    warpwright_convolution::copy_16(to, from);
  }
  static __device__ __forceinline__ void copy_4(float *to, const float *from, bool there) {
    warpwright_convolution::copy_4(to, from, there);
  }
  static __device__ __forceinline__ void copied() { warpwright_convolution::copied(); }

  static __device__ __forceinline__ void pack(float *tile, float value) {
    const float high = kSplit ? high_tf32(value) : round_tf32(value);
    tile[0] = high;
    if (kSplit)
      tile[8 * kN] = round_tf32(value - high);
  }

  __device__ __forceinline__ int position_of(int fragment, int half) const {
    return (warp / 4 * kM + fragment) * 64 + warp % 4 * 16 + half * 8 + quad;
  }

  __device__ __forceinline__ WarpgroupSums() {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int position = position_of(i, half);
        at[i][half] = t * C::kPlane + position / C::kWidth * (C::kInputStepH * C::kLine) + position % C::kWidth * C::kInputStepW;
      }
    clear(sums);
  }

  static __device__ __forceinline__ void clear(float (&values)[kSums][kN / 2]) {
#pragma unroll
    for (int i = 0; i < kSums; ++i)
#pragma unroll
      for (int j = 0; j < kN / 2; ++j)
        values[i][j] = 0;
  }

  // Number of different inputs of the taps in [begin, end); taps of one input are neighbours.
  static constexpr __device__ int inputs(int begin, int end) {
    int count = 0;
    for (int i = begin; i < end; ++i)
      count += i == begin || C::kTaps[i][0] != C::kTaps[i - 1][0];
    return count;
  }

  // The inputs of taps from kTap on, each once.
  template <int kBegin, int kTap, int kEnd, int kInputs>
  __device__ __forceinline__ void load(float (&a)[kInputs][kM][4], const float *tile) const {
    if constexpr (kTap < kEnd) {
      constexpr int kInput = inputs(kBegin, kTap + 1) - 1, kPlace = C::kTaps[kTap][0];
      if constexpr (kTap == kBegin || kInput == inputs(kBegin, kTap)) {
#pragma unroll
        for (int i = 0; i < kM; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const float value = tile[kPlace + at[i][j % 2] + j / 2 * (4 * C::kPlane)];
            a[kInput][i][j] = kSplit ? value : round_tf32(value);
          }
      }
      load<kBegin, kTap + 1, kEnd>(a, tile);
    }
  }

  // Adds the products of taps from kTap on, with `weights` of the first tap of the phase.
  template <int kFirst, int kBegin, int kTap, int kEnd, int kInputs>
  static __device__ __forceinline__ void add(float (&to)[kSums][kN / 2], const float (&a)[kInputs][kM][4],
                                             const float *weights) {
    if constexpr (kTap < kEnd) {
      constexpr int kInput = inputs(kBegin, kTap + 1) - 1, kPhase = C::kTaps[kTap][1];
#pragma unroll
      for (int m = 0; m < kM; ++m)
        multiply_add<kN>(to[kPhase * kM + m], a[kInput][m], describe(weights + (kTap - kFirst) * 8 * kN * kCopies));
      add<kFirst, kBegin, kTap + 1, kEnd>(to, a, weights);
    }
  }

  // A batch of taps: loads, then all their products.
  template <int kFirst, int kBegin, int kEnd>
  __device__ __forceinline__ void batch(float (&to)[kSums][kN / 2], const float *tile, const float *weights) const {
    constexpr int kInputs = inputs(kBegin, kEnd);
    float a[kInputs][kM][4];
    load<kBegin, kBegin, kEnd>(a, tile);
    if constexpr (kSplit) {
      float low[kInputs][kM][4];
#pragma unroll
      for (int i = 0; i < kInputs * kM * 4; ++i) {
        const float value = a[i / (kM * 4)][i / 4 % kM][i % 4], high = high_tf32(value);
        a[i / (kM * 4)][i / 4 % kM][i % 4] = high;
        low[i / (kM * 4)][i / 4 % kM][i % 4] = round_tf32(value - high);
      }
      pin(a);
      pin(low);
      pin(to);
      begin_products();
      add<kFirst, kBegin, kBegin, kEnd>(to, low, weights);
      add<kFirst, kBegin, kBegin, kEnd>(to, a, weights + 8 * kN);
      add<kFirst, kBegin, kBegin, kEnd>(to, a, weights);
      finish_products();
      pin(a);
      pin(low);
      pin(to);
    } else {
      pin(a);
      pin(to);
      begin_products();
      add<kFirst, kBegin, kBegin, kEnd>(to, a, weights);
      finish_products();
      pin(a);
      pin(to);
    }
  }

  template <int kFirst, int kBegin, int kEnd>
  __device__ __forceinline__ void batches(float (&to)[kSums][kN / 2], const float *tile, const float *weights) const {
    if constexpr (kBegin < kEnd) {
      batch<kFirst, kBegin, (kBegin + kBatch < kEnd ? kBegin + kBatch : kEnd)>(to, tile, weights);
      batches<kFirst, kBegin + kBatch, kEnd>(to, tile, weights);
    }
  }

  template <int kFirst, int kBegin, int kEnd>
  __device__ __forceinline__ void split_parts(const float *tile, const float *weights) {
    if constexpr (kBegin < kEnd) {
      float parts[kSums][kN / 2];
      clear(parts);
      batches<kFirst, kBegin, (kBegin + kPart < kEnd ? kBegin + kPart : kEnd)>(parts, tile, weights);
#pragma unroll
      for (int i = 0; i < kSums; ++i)
#pragma unroll
        for (int j = 0; j < kN / 2; ++j)
          sums[i][j] += parts[i][j];
      split_parts<kFirst, kBegin + kPart, kEnd>(tile, weights);
    }
  }

  template <int kFirst, int kEnd> __device__ __forceinline__ void multiply(const float *tile, const float *weights) {
    if constexpr (kSplit)
      split_parts<kFirst, kFirst, kEnd>(tile, weights);
    else
      batches<kFirst, kFirst, kEnd>(sums, tile, weights);
  }

  __device__ __forceinline__ void unload(float *shared) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i)
#pragma unroll
      for (int j = 0; j < kN / 2; ++j) {
        const int column = j / 4 * 8 + 2 * t + j % 2;
        shared[(i / kM * kN + column) * (C::kPositions + 4) + position_of(i % kM, j / 2 % 2)] = sums[i][j];
      }
  }
};

template <typename C> using Wgmma = WarpgroupSums<C, false>;
template <typename C> using Split = WarpgroupSums<C, true>;

} // namespace warpwright_tiles
#endif
