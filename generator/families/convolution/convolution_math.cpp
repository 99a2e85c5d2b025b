#include "generator/families/convolution/convolution_math.h"
#include "arch/generations.h"
#include "generator/elements/tensor_text.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

/// Weights as rows of output channels, through registers.
constexpr std::string_view kRowWeights = R"cuda(
  constexpr int kBStride = kBN + 8, kBBuffer = kBK * kBStride;
  constexpr int kVectors = kBK * kBN / 4, kBLoads = (kVectors + kThreads - 1) / kThreads;
  const float *const weights =
      packed + ((long long)group * @ROWS@ + phase.row) * @COP@ + column0;
  float4 fetched_b[kBLoads];)cuda";

constexpr std::string_view kFetchRows = R"cuda(
#pragma unroll
    for (int i = 0; i < kBLoads; ++i) {
      const int e = threadIdx.x + i * kThreads;
      if (kVectors % kThreads == 0 || e < kVectors)
        fetched_b[i] = *reinterpret_cast<const float4 *>(
            weights + (chunk * kBK + e / (kBN / 4)) * @COP@ + e % (kBN / 4) * 4);
    })cuda";

constexpr std::string_view kPutRows = R"cuda(
#pragma unroll
    for (int i = 0; i < kBLoads; ++i) {
      const int e = threadIdx.x + i * kThreads;
      if (kVectors % kThreads == 0 || e < kVectors)
        *reinterpret_cast<float4 *>(shared_b + buffer * kBBuffer + e / (kBN / 4) * kBStride +
                                    e % (kBN / 4) * 4) = fetched_b[i];
    })cuda";

constexpr std::string_view kPackRows =
    R"cuda(  packed[((long long)group * @ROWS@ + phase.row + row) * @COP@ + column] = @ROUND@(value);)cuda";

/// Weights as wgmma reads them: 8 channels by 4 inputs are 128 bytes in a row, without swizzle; two of those along the inputs (128 bytes
/// apart) make a step of 8, and groups of 8 channels follow at 256 bytes. A step's tile is one piece of memory.
constexpr std::string_view kPackTiles = R"cuda(
  const int step = (phase.row + row) / @BK@, k = row % @BK@, n = column % @BN@;
  float *const tile = packed + (((long long)group * (@ROWS@ / @BK@) + step) * @COLUMN_BLOCKS@ +
                                column / @BN@) * (@BK@ * @BN@ * @COPIES@) +
                      (k / 8 * (@BN@ / 8) + n / 8) * 64 + k % 8 / 4 * 32 + n % 8 * 4 + k % 4;
  const float high = @COPIES@ == 2 ? @PREFIX@_high(value) : @PREFIX@_round(value);
  tile[0] = high;
  if (@COPIES@ == 2)
    tile[@BK@ * @BN@ * (@COPIES@ - 1)] = @PREFIX@_round(value - high);)cuda";

constexpr std::string_view kTileWeights = R"cuda(
  constexpr int kBBuffer = kBK * kBN * @COPIES@;
  const float *const weights = packed + (((long long)group * (@ROWS@ / kBK) + phase.row / kBK) *
                                             @COLUMN_BLOCKS@ + column0 / kBN) * kBBuffer;
  constexpr int kPasses = kBN / 32, kStagedRows = 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4, t = lane % 4;
  float sums[2][kBN / 2];
#pragma unroll
  for (int i = 0; i < kBN; ++i)
    sums[i % 2][i / 2] = 0;)cuda";

constexpr std::string_view kFetchTiles = R"cuda(
#pragma unroll
    for (int e = threadIdx.x; e < kBBuffer / 4; e += kThreads)
      @PREFIX@_copy(shared_b + buffer * kBBuffer + e * 4,
                    weights + (long long)chunk * @COLUMN_BLOCKS@ * kBBuffer + e * 4);)cuda";

constexpr std::string_view kPutTiles = "    @PREFIX@_copied();";

constexpr std::string_view kWgmmaCompute = R"cuda(
    float4 a[kBK / 8][2];
#pragma unroll
    for (int s = 0; s < kBK / 8; ++s)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        a[s][half] = *reinterpret_cast<const float4 *>(
            a_tile + (s * 8 + t + 4 * half) * kAStride + warp * 32 + quad * 4);
    @PREFIX@_pin(a);
    @PREFIX@_pin(sums[0]);
    @PREFIX@_pin(sums[1]);
    @PREFIX@_begin();
#pragma unroll
    for (int s = 0; s < kBK / 8; ++s) {
      const unsigned long long b = @PREFIX@_describe(b_tile + s * kBN * 8);
      @PREFIX@_multiply(sums[0], a[s][0].x, a[s][0].y, a[s][1].x, a[s][1].y, b, 1);
      @PREFIX@_multiply(sums[1], a[s][0].z, a[s][0].w, a[s][1].z, a[s][1].w, b, 1);
    }
    @PREFIX@_finish();
    @PREFIX@_pin(a);
    @PREFIX@_pin(sums[0]);
    @PREFIX@_pin(sums[1]);)cuda";

/// a * b as high * high + high * low + low * high; each step's sum joins the total in ordinary registers, because tensor cores truncate.
constexpr std::string_view kSplitCompute = R"cuda(
    float parts[2][kBN / 2];
    float4 high[kBK / 8][2], low[kBK / 8][2];
#pragma unroll
    for (int s = 0; s < kBK / 8; ++s)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float4 a = *reinterpret_cast<const float4 *>(
            a_tile + (s * 8 + t + 4 * half) * kAStride + warp * 32 + quad * 4);
        high[s][half] = make_float4(@PREFIX@_high(a.x), @PREFIX@_high(a.y), @PREFIX@_high(a.z),
                                    @PREFIX@_high(a.w));
        low[s][half] = make_float4(
            @PREFIX@_round(a.x - high[s][half].x), @PREFIX@_round(a.y - high[s][half].y),
            @PREFIX@_round(a.z - high[s][half].z), @PREFIX@_round(a.w - high[s][half].w));
      }
#pragma unroll
    for (int i = 0; i < kBN; ++i)
      parts[i % 2][i / 2] = 0;
    @PREFIX@_pin(high);
    @PREFIX@_pin(low);
    @PREFIX@_pin(parts[0]);
    @PREFIX@_pin(parts[1]);
    @PREFIX@_begin();
#pragma unroll
    for (int s = 0; s < kBK / 8; ++s) {
      const unsigned long long b = @PREFIX@_describe(b_tile + s * kBN * 8);
      const unsigned long long b_low = @PREFIX@_describe(b_tile + kBK * kBN + s * kBN * 8);
      @PREFIX@_multiply(parts[0], low[s][0].x, low[s][0].y, low[s][1].x, low[s][1].y, b, 1);
      @PREFIX@_multiply(parts[1], low[s][0].z, low[s][0].w, low[s][1].z, low[s][1].w, b, 1);
      @PREFIX@_multiply(parts[0], high[s][0].x, high[s][0].y, high[s][1].x, high[s][1].y, b_low, 1);
      @PREFIX@_multiply(parts[1], high[s][0].z, high[s][0].w, high[s][1].z, high[s][1].w, b_low, 1);
      @PREFIX@_multiply(parts[0], high[s][0].x, high[s][0].y, high[s][1].x, high[s][1].y, b, 1);
      @PREFIX@_multiply(parts[1], high[s][0].z, high[s][0].w, high[s][1].z, high[s][1].w, b, 1);
    }
    @PREFIX@_finish();
    @PREFIX@_pin(high);
    @PREFIX@_pin(low);
    @PREFIX@_pin(parts[0]);
    @PREFIX@_pin(parts[1]);
#pragma unroll
    for (int i = 0; i < kBN; ++i)
      sums[i % 2][i / 2] += parts[i % 2][i / 2];)cuda";

constexpr std::string_view kWgmmaStage = R"cuda(
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int j = (pass * 4 + c) * 4 + e;
        *reinterpret_cast<float4 *>(shared + (c * 8 + 2 * t + e) * kCStride + warp * 32 + quad * 4) =
            make_float4(sums[0][j], sums[0][j + 2], sums[1][j], sums[1][j + 2]);
      })cuda";

constexpr std::string_view kWgmmaFunctions = R"cuda(
__device__ __forceinline__ void @PREFIX@_copy(float *to, const float *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from)
               : "memory");
}
__device__ __forceinline__ void @PREFIX@_copied() {
  asm volatile("cp.async.wait_all;\nfence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ unsigned long long @PREFIX@_describe(const float *tile) {
  const unsigned long long address = (unsigned)__cvta_generic_to_shared(tile);
  return (address & 0x3ffff) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}
// Values stay where they are until here: the compiler does not see that wgmma goes on reading and writing registers.
template <int kCount> __device__ __forceinline__ void @PREFIX@_pin(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    asm volatile("" : "+f"(values[i])::"memory");
}
template <int kCount> __device__ __forceinline__ void @PREFIX@_pin(float4 (&values)[kCount][2]) {
#pragma unroll
  for (int i = 0; i < 2 * kCount; ++i)
    asm volatile("" : "+f"(values[i / 2][i % 2].x), "+f"(values[i / 2][i % 2].y),
                      "+f"(values[i / 2][i % 2].z), "+f"(values[i / 2][i % 2].w)::"memory");
}
__device__ __forceinline__ void @PREFIX@_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void @PREFIX@_finish() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ __forceinline__ void @PREFIX@_multiply(float (&d)[@BN@ / 2], float a0, float a1, float a2,
                                                  float a3, unsigned long long b, int accumulate) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %@HALF_5@, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n@BN@k8.f32.tf32.tf32 {@REGISTERS@}, "
               "{%@HALF_0@, %@HALF_1@, %@HALF_2@, %@HALF_3@}, %@HALF_4@, p, 1, 1;\n}"
               : @OPERANDS@
               : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)),
                 "r"(__float_as_uint(a3)), "l"(b), "r"(accumulate));
}
)cuda";

constexpr std::string_view kTensorAccumulators = R"cuda(
  constexpr int kWM = @WM@, kWN = @WN@, kPasses = kWN / 32, kStagedRows = kBN / kWN * 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4, t = lane % 4;
  const int warp_m = warp % (kBM / kWM), warp_n = warp / (kBM / kWM);
  float sums[kWM / 16][kWN / 8][4];
#pragma unroll
  for (int i = 0; i < kWM / 16; ++i)
#pragma unroll
    for (int j = 0; j < kWN / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sums[i][j][e] = 0;)cuda";

constexpr std::string_view kTensorCompute = R"cuda(
#pragma unroll
    for (int k = 0; k < kBK; k += 8) {
      float4 a[kWM / 32][2], b[kWN / 32][2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int i = 0; i < kWM / 32; ++i)
          a[i][half] = *reinterpret_cast<const float4 *>(
              a_tile + (k + t + 4 * half) * kAStride + warp_m * kWM + i * 32 + quad * 4);
#pragma unroll
        for (int j = 0; j < kWN / 32; ++j)
          b[j][half] = *reinterpret_cast<const float4 *>(
              b_tile + (k + t + 4 * half) * kBStride + warp_n * kWN + j * 32 + quad * 4);
      }
#pragma unroll
      for (int i = 0; i < kWM / 32; ++i)
#pragma unroll
        for (int j = 0; j < kWN / 32; ++j) {
          const float b0[4] = {b[j][0].x, b[j][0].y, b[j][0].z, b[j][0].w};
          const float b1[4] = {b[j][1].x, b[j][1].y, b[j][1].z, b[j][1].w};
#pragma unroll
          for (int c = 0; c < 4; ++c) {
            @PREFIX@_mma(sums[i * 2][j * 4 + c], a[i][0].x, a[i][0].y, a[i][1].x, a[i][1].y, b0[c], b1[c]);
            @PREFIX@_mma(sums[i * 2 + 1][j * 4 + c], a[i][0].z, a[i][0].w, a[i][1].z, a[i][1].w, b0[c], b1[c]);
          }
        }
    })cuda";

constexpr std::string_view kTensorStage = R"cuda(
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int i = 0; i < kWM / 32; ++i) {
          const int j = pass * 4 + c;
          *reinterpret_cast<float4 *>(shared + (warp_n * 32 + c * 8 + 2 * t + e) * kCStride +
                                      warp_m * kWM + i * 32 + quad * 4) =
              make_float4(sums[2 * i][j][e], sums[2 * i][j][e + 2], sums[2 * i + 1][j][e],
                          sums[2 * i + 1][j][e + 2]);
        })cuda";

constexpr std::string_view kRound = R"cuda(
__device__ __forceinline__ float @PREFIX@_round(float value) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return __uint_as_float(rounded);
}
// Of an infinity 1 with its sign, so that the rest is the infinity: high * high + high * low + low * high is then what FP32 gives, where
// parts of infinity and infinity minus infinity give no number. What would round to infinity is cut off.
__device__ __forceinline__ float @PREFIX@_high(float value) {
  const float high = @PREFIX@_round(value);
  const unsigned bits = __float_as_uint(value), infinity = 0x7f800000u;
  if ((__float_as_uint(high) & 0x7fffffffu) != infinity)
    return high;
  return __uint_as_float(bits & ((bits & 0x7fffffffu) == infinity ? 0xbf800000u : 0xffffe000u));
}
)cuda";

constexpr std::string_view kMma = R"cuda(
__device__ __forceinline__ void @PREFIX@_mma(float *sum, float a0, float a1, float a2, float a3,
                                             float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)),
        "r"(__float_as_uint(a3)), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
)cuda";

constexpr std::string_view kScalarAccumulators = R"cuda(
  constexpr int kTN = kBN * kBM / 8 / kThreads, kTogether = kTN < 4 ? kTN : 4;
  constexpr int kPasses = kTN / kTogether, kStagedRows = kBN / kTN * kTogether;
  const int tx = threadIdx.x % (kBM / 8), ty = threadIdx.x / (kBM / 8);
  float sums[kTN][8];
#pragma unroll
  for (int j = 0; j < kTN; ++j)
#pragma unroll
    for (int i = 0; i < 8; ++i)
      sums[j][i] = 0;)cuda";

constexpr std::string_view kScalarCompute = R"cuda(
#pragma unroll
    for (int k = 0; k < kBK; ++k) {
      const float4 low = *reinterpret_cast<const float4 *>(a_tile + k * kAStride + tx * 4);
      const float4 high = *reinterpret_cast<const float4 *>(a_tile + k * kAStride + kBM / 2 + tx * 4);
      const float a[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int j = 0; j < kTN; ++j) {
        const float b = b_tile[k * kBStride + ty * kTN + j];
#pragma unroll
        for (int i = 0; i < 8; ++i)
          sums[j][i] += a[i] * b;
      }
    })cuda";

constexpr std::string_view kScalarStage = R"cuda(
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const float *const from = sums[pass * kTogether + j];
      float *const to = shared + (ty * kTogether + j) * kCStride + tx * 4;
      *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
      *reinterpret_cast<float4 *>(to + kBM / 2) = make_float4(from[4], from[5], from[6], from[7]);
    })cuda";

/// wgmma with its registers spelled out, for tiles of `channels` columns.
std::string wgmma_functions(int channels) {
  const int half = channels / 2;
  std::string registers, operands;
  for (int i = 0; i < half; ++i) {
    registers += (i ? ", %" : "%") + std::to_string(i);
    operands += (i ? ", " : "") + ("\"+f\"(d[" + std::to_string(i) + "])");
  }
  Places places{{"REGISTERS", registers}, {"OPERANDS", operands}};
  for (int i = 0; i < 6; ++i)
    places["HALF_" + std::to_string(i)] = std::to_string(half + i);
  return fill_places(kWgmmaFunctions, places);
}

/// Products of fragments by generation, where mma.sync is not the instruction for them. A generation adds its line.
const std::vector<TensorText> kProducts = {};

constexpr std::string_view kOwnMma = R"cuda(
__device__ __forceinline__ void @PREFIX@_mma(float *sum, float a0, float a1, float a2, float a3,
                                             float b0, float b1) {
  const unsigned a[4] = {__float_as_uint(a0), __float_as_uint(a1), __float_as_uint(a2), __float_as_uint(a3)};
  const unsigned b[2] = {__float_as_uint(b0), __float_as_uint(b1)};
  @SPACE@::multiply(*reinterpret_cast<float (*)[4]>(sum), a, b);
}
)cuda";

/// PREFIX_mma for these tensor cores.
std::string product_function(arch::TensorCores cores) {
  const TensorText *own = text_for(kProducts, cores);
  if (!own)
    return std::string(kMma);
  return "\n" + std::string(own->source) +
         fill_places(kOwnMma, {{"SPACE", std::string(own->space)}});
}

} // namespace

std::string_view tf32_functions() { return kRound; }

ConvolutionMath convolution_math(const ConvolutionTile &tile, const std::string &prefix) {
  ConvolutionMath math;
  if (tile.math == ConvolutionTile::Math::Wgmma || tile.math == ConvolutionTile::Math::Split) {
    const bool split = tile.math == ConvolutionTile::Math::Split;
    math.functions = std::string(tf32_functions()) + wgmma_functions(tile.channels);
    math.accumulators = kTileWeights;
    math.fetch_weights = kFetchTiles;
    math.put_weights = kPutTiles;
    math.pack_store = kPackTiles;
    math.compute = split ? kSplitCompute : kWgmmaCompute;
    math.stage = kWgmmaStage;
    math.column_of_row = "pass * 32 + row";
    math.round_input = split ? "" : prefix + "_round";
    math.weight_copies = split ? 2 : 1;
    math.weight_floats = std::int64_t{tile.depth} * tile.channels * math.weight_copies;
    math.staged_rows = 32;
    return math;
  }
  const bool tensor = tile.math == ConvolutionTile::Math::Mma;
  if (tensor)
    math.functions = std::string(tf32_functions()) + product_function(tile.cores);
  math.accumulators =
      std::string(kRowWeights) + std::string(tensor ? kTensorAccumulators : kScalarAccumulators);
  math.fetch_weights = kFetchRows;
  math.put_weights = kPutRows;
  math.pack_store = kPackRows;
  math.compute = tensor ? kTensorCompute : kScalarCompute;
  math.stage = tensor ? kTensorStage : kScalarStage;
  math.column_of_row = tensor ? "row / 32 * kWN + pass * 32 + row % 8 * 4 + row % 32 / 8"
                              : "row / kTogether * kTN + pass * kTogether + row % kTogether";
  math.round_input = tensor ? prefix + "_round" : "";
  math.weight_floats = std::int64_t{tile.depth} * (tile.channels + 8);
  const int per_thread = tile.channels * tile.pixels / 8 / tile.threads;
  math.staged_rows = tensor ? tile.channels / tile.warp_channels * 32
                            : tile.channels / per_thread * std::min(per_thread, 4);
  return math;
}

} // namespace warpwright::generator
