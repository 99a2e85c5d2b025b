// Arithmetic of convolution.cuh on sm_90's tensor cores: TF32 (Wgmma), and FP32-accurate products
// as three of TF32 (Split).
//
// Four warps make 128 pixels of a tile; an element of a fragment is four neighbouring pixels,
// loaded as 16 bytes and spread over two products.
#ifndef WARPWRIGHT_CONVOLUTION_WGMMA
#define WARPWRIGHT_CONVOLUTION_WGMMA

namespace warpwright_convolution {

// Weights as wgmma reads them, a step's tile in one piece of memory, copied to shared memory as it
// lies. With kCopies of 2 the parts that high_tf32 leaves follow the high ones.
template <typename C, int kCopies> struct TileWeights {
  static constexpr int kBuffer = C::kDepth * C::kChannels * kCopies;
  const float *const weights;

  __device__ __forceinline__ TileWeights(const float *packed, int group, int first_row, int column0)
      : weights(packed + (((long long)group * (C::kRows / C::kDepth) + first_row / C::kDepth) * C::kColumnBlocks +
                          column0 / C::kChannels) * kBuffer) {}

  __device__ __forceinline__ void fetch(int chunk, float *tile) {
#pragma unroll
    for (int e = threadIdx.x; e < kBuffer / 4; e += C::kThreads)
      copy_16(tile + e * 4, weights + (long long)chunk * C::kColumnBlocks * kBuffer + e * 4);
  }

  __device__ __forceinline__ void put(float *) const { copied(); }

  static __device__ __forceinline__ void pack(float *packed, int group, int first_row, int row, int column,
                                              float value) {
    const int step = (first_row + row) / C::kDepth, k = row % C::kDepth, n = column % C::kChannels;
    float *const tile =
        packed + (((long long)group * (C::kRows / C::kDepth) + step) * C::kColumnBlocks + column / C::kChannels) * kBuffer +
        (k / 8 * (C::kChannels / 8) + n / 8) * 64 + k % 8 / 4 * 32 + n % 8 * 4 + k % 4;
    const float high = kCopies == 2 ? high_tf32(value) : round_tf32(value);
    tile[0] = high;
    if (kCopies == 2)
      tile[C::kDepth * C::kChannels * (kCopies - 1)] = round_tf32(value - high);
  }
};

// Sums of a block: 32 pixels a warp as two fragments of 16, all channels.
template <typename C, bool kSplit> struct WarpgroupSums {
  using Weights = TileWeights<C, kSplit ? 2 : 1>;
  static constexpr int kN = C::kChannels, kSteps = C::kDepth / 8;
  static constexpr int kPasses = kN / 32, kStagedRows = 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4, t = lane % 4;
  float sums[2][kN / 2];

  static __device__ __forceinline__ float round(float value) { return kSplit ? value : round_tf32(value); }

  __device__ __forceinline__ WarpgroupSums() { clear(sums); }

  static __device__ __forceinline__ void clear(float (&values)[2][kN / 2]) {
#pragma unroll
    for (int i = 0; i < kN; ++i)
      values[i % 2][i / 2] = 0;
  }

  static __device__ __forceinline__ void add(float (&to)[2][kN / 2], const float4 (&a)[2], const float *tile) {
    const unsigned long long b = describe(tile);
    multiply_add<kN>(to[0], {a[0].x, a[0].y, a[1].x, a[1].y}, b);
    multiply_add<kN>(to[1], {a[0].z, a[0].w, a[1].z, a[1].w}, b);
  }

  __device__ __forceinline__ float4 element(const float *a_tile, int step, int half) const {
    return *reinterpret_cast<const float4 *>(a_tile + (step * 8 + t + 4 * half) * (C::kPixels + 8) + warp * 32 +
                                             quad * 4);
  }

  __device__ __forceinline__ void multiply(const float *a_tile, const float *b_tile) {
    if constexpr (kSplit)
      multiply_split(a_tile, b_tile);
    else
      multiply_rounded(a_tile, b_tile);
  }

  __device__ __forceinline__ void multiply_rounded(const float *a_tile, const float *b_tile) {
    float4 a[kSteps][2];
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        a[s][half] = element(a_tile, s, half);
    pin(a);
    pin(sums);
    begin_products();
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
      add(sums, a[s], b_tile + s * kN * 8);
    finish_products();
    pin(a);
    pin(sums);
  }

  // a * b as low * high + high * low + high * high; the sum of each step joins the total in
  // ordinary registers, because tensor cores truncate.
  __device__ __forceinline__ void multiply_split(const float *a_tile, const float *b_tile) {
    float parts[2][kN / 2];
    float4 high[kSteps][2], low[kSteps][2];
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float4 a = element(a_tile, s, half);
        high[s][half] = make_float4(high_tf32(a.x), high_tf32(a.y), high_tf32(a.z), high_tf32(a.w));
        low[s][half] = make_float4(round_tf32(a.x - high[s][half].x), round_tf32(a.y - high[s][half].y),
                                   round_tf32(a.z - high[s][half].z), round_tf32(a.w - high[s][half].w));
      }
    clear(parts);
    pin(high);
    pin(low);
    pin(parts);
    begin_products();
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const float *const b = b_tile + s * kN * 8, *const b_low = b + C::kDepth * kN;
      add(parts, low[s], b);
      add(parts, high[s], b_low);
      add(parts, high[s], b);
    }
    finish_products();
    pin(high);
    pin(low);
    pin(parts);
#pragma unroll
    for (int i = 0; i < kN; ++i)
      sums[i % 2][i / 2] += parts[i % 2][i / 2];
  }

  __device__ __forceinline__ void stage(int pass, float *shared) const {
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int j = (pass * 4 + c) * 4 + e;
        *reinterpret_cast<float4 *>(shared + (c * 8 + 2 * t + e) * (C::kPixels + 4) + warp * 32 + quad * 4) =
            make_float4(sums[0][j], sums[0][j + 2], sums[1][j], sums[1][j + 2]);
      }
  }

  static __device__ __forceinline__ int row_channel(int pass, int row) { return pass * 32 + row; }
};

template <typename C> using Wgmma = WarpgroupSums<C, false>;
template <typename C> using Split = WarpgroupSums<C, true>;

} // namespace warpwright_convolution
#endif
