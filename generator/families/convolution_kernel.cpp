// Implicit GEMM: rows are output pixels, columns output channels, and the summed dimension runs over filter taps, input channels fastest.
//
// Weights are packed first into [group][tap, input channel][output channel], padded with zeros, so that a step of the main kernel reads
// whole vectors of them and knows one tap for all its input channels. Input elements are fetched where the tap says, by threads on
// neighbouring pixels, into registers while the step before is computed, and then through a double buffer in shared memory.
// Tensor cores: mma.m16n8k8 in TF32, operands rounded to nearest once as they enter shared memory, sums in FP32. Which fragment row stands
// for which pixel is free, so four neighbouring pixels (and channels) are one fragment load of 16 bytes; row strides of 8 modulo 32
// words keep those free of bank conflicts. Without: FP32 products on 8 pixels a thread. Results leave through shared memory, so that
// neighbouring threads store neighbouring pixels. Thread: pure functions.
#include "generator/families/convolution_kernel.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr std::string_view kTables = R"cuda(
struct @PREFIX@_Phase {
  int first[3], count[3], block, tap, taps, row;
};
__constant__ @PREFIX@_Phase @PREFIX@_phases[] = {@PHASE_ROWS@};
__constant__ int @PREFIX@_taps[][4] = {@TAP_ROWS@};
)cuda";

constexpr std::string_view kPack = R"cuda(
extern "C" __global__ void __launch_bounds__(256) @PREFIX@_pack(@PARAMETERS@) {
  const @PREFIX@_Phase phase = @PREFIX@_phases[blockIdx.y];
  const int group = blockIdx.z, rows = (phase.taps * @CI@ + @BK@ - 1) / @BK@ * @BK@;
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int row = i / @COP@, column = i % @COP@;
  if (row >= rows)
    return;
  float value = 0;
  if (row < phase.taps * @CI@ && column < @CO@) {
    const int tap = @PREFIX@_taps[phase.tap + row / @CI@][3];
    const int tap_d = tap / (@KH@ * @KW@), tap_h = tap / @KW@ % @KH@, tap_w = tap % @KW@;
    const int input_channel = @PACK_INPUT@, output_channel = @PACK_OUTPUT@;
@WEIGHT@
  }
  packed[((long long)group * @ROWS@ + phase.row + row) * @COP@ + column] = @ROUND@(value);
}
)cuda";

constexpr std::string_view kMain = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @PREFIX@_convolution(@PARAMETERS@) {
  constexpr int kBM = @BM@, kBN = @BN@, kBK = @BK@, kThreads = @THREADS@;
  constexpr int kLines = kThreads / kBM, kLoads = kBK / kLines;
  constexpr int kAStride = kBM + 8, kBStride = kBN + 8, kCStride = kBM + 4;
  constexpr int kVectors = kBK * kBN / 4, kBLoads = (kVectors + kThreads - 1) / kThreads;
  extern __shared__ __align__(16) float shared[];
  float *const shared_a = shared, *const shared_b = shared + 2 * kBK * kAStride;

  int block = blockIdx.x, which = 0;
@FIND_PHASE@
  const @PREFIX@_Phase &phase = @PREFIX@_phases[which];
  const int count_d = @QD@, count_h = @QH@, count_w = @QW@, taps = @TAPS@;
  block -= phase.block;
  const int group = blockIdx.y, column0 = block % @COLUMN_BLOCKS@ * kBN;
  const int line = threadIdx.x / kBM, local = threadIdx.x % kBM;
  const int pixel = block / @COLUMN_BLOCKS@ * kBM + local;
  const bool inside = pixel < @N@ * count_d * count_h * count_w;
  const int qw = pixel % count_w, qh = pixel / count_w % count_h;
  const int qd = pixel / (count_w * count_h) % count_d, n = pixel / (count_w * count_h * count_d);
  const int d0 = qd * @ISD@, h0 = qh * @ISH@, w0 = qw * @ISW@;
  const int chunks = (taps * @CI@ + kBK - 1) / kBK;
  const float *const weights =
      packed + ((long long)group * @ROWS@ + phase.row) * @COP@ + column0;

  float fetched_a[kLoads];
  float4 fetched_b[kBLoads];
  auto fetch = [&](int chunk) {
@FETCH@
#pragma unroll
    for (int i = 0; i < kBLoads; ++i) {
      const int e = threadIdx.x + i * kThreads;
      if (kVectors % kThreads == 0 || e < kVectors)
        fetched_b[i] = *reinterpret_cast<const float4 *>(
            weights + (chunk * kBK + e / (kBN / 4)) * @COP@ + e % (kBN / 4) * 4);
    }
  };
  auto put = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      shared_a[(buffer * kBK + line + i * kLines) * kAStride + local] = @ROUND@(fetched_a[i]);
#pragma unroll
    for (int i = 0; i < kBLoads; ++i) {
      const int e = threadIdx.x + i * kThreads;
      if (kVectors % kThreads == 0 || e < kVectors)
        *reinterpret_cast<float4 *>(shared_b + (buffer * kBK + e / (kBN / 4)) * kBStride +
                                    e % (kBN / 4) * 4) = fetched_b[i];
    }
  };
@ACCUMULATORS@
  if (chunks > 0) {
    fetch(0);
    put(0);
  }
  __syncthreads();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int buffer = chunk % 2;
    if (chunk + 1 < chunks)
      fetch(chunk + 1);
    const float *const a_tile = shared_a + buffer * kBK * kAStride;
    const float *const b_tile = shared_b + buffer * kBK * kBStride;
@COMPUTE@
    if (chunk + 1 < chunks)
      put(buffer ^ 1);
    __syncthreads();
  }
  const int od = qd * @OSD@ + phase.first[0], oh = qh * @OSH@ + phase.first[1];
  const int ow = qw * @OSW@ + phase.first[2];
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
@STAGE@
    __syncthreads();
#pragma unroll 4
    for (int row = line; row < kStagedRows; row += kLines) {
      const int column = column0 + @COLUMN_OF_ROW@;
      if (inside && column < @CO@) {
        const int channel = group * @CO@ + column;
        const float sum = shared[row * kCStride + local];
@FINISH@
      }
    }
    __syncthreads();
  }
}
)cuda";

/// All elements of a step share one tap.
constexpr std::string_view kFetchOneTap = R"cuda(
    const int k0 = chunk * kBK;
    const int *const tap = @PREFIX@_taps[phase.tap + k0 / @CI@];
    const int d = d0 + tap[0], h = h0 + tap[1], w = w0 + tap[2];
    const bool valid = inside && d >= 0 && d < @ID@ && h >= 0 && h < @IH@ && w >= 0 && w < @IW@;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int channel = group * @CI@ + k0 % @CI@ + line + i * kLines;
      float value = 0;
      if (valid) {
@LOAD@
      }
      fetched_a[i] = value;
    })cuda";

constexpr std::string_view kFetchAnyTap = R"cuda(
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int k = chunk * kBK + line + i * kLines;
      float value = 0;
      if (inside && k < taps * @CI@) {
        const int *const tap = @PREFIX@_taps[phase.tap + k / @CI@];
        const int d = d0 + tap[0], h = h0 + tap[1], w = w0 + tap[2];
        const int channel = group * @CI@ + k % @CI@;
        if (d >= 0 && d < @ID@ && h >= 0 && h < @IH@ && w >= 0 && w < @IW@) {
@LOAD@
        }
      }
      fetched_a[i] = value;
    })cuda";

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

constexpr std::string_view kTensorFunctions = R"cuda(
__device__ __forceinline__ float @PREFIX@_round(float value) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return __uint_as_float(rounded);
}
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

std::string numbers(const std::array<std::int64_t, 3> &values) {
  return "{" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + "}";
}

} // namespace

ConvolutionPhases convolution_phases(const ConvolutionShape &shape) {
  ConvolutionPhases result;
  if (!shape.transposed) {
    result.input_step = shape.stride;
    ConvolutionPhase phase;
    phase.count = shape.out;
    for (std::int64_t tap = 0; tap < shape.taps(); ++tap) {
      const std::array<std::int64_t, 3> at{tap / (shape.kernel[1] * shape.kernel[2]),
                                           tap / shape.kernel[2] % shape.kernel[1],
                                           tap % shape.kernel[2]};
      ConvolutionTap entry{tap, {}};
      for (std::size_t d = 0; d < 3; ++d)
        entry.offset[d] = at[d] * shape.dilation[d] - shape.padding[d];
      phase.taps.push_back(entry);
    }
    result.phases.push_back(std::move(phase));
    return result;
  }
  result.output_step = shape.stride;
  const std::int64_t combinations = shape.stride[0] * shape.stride[1] * shape.stride[2];
  for (std::int64_t at = 0; at < combinations; ++at) {
    ConvolutionPhase phase;
    phase.first = {at / (shape.stride[1] * shape.stride[2]), at / shape.stride[2] % shape.stride[1],
                   at % shape.stride[2]};
    bool empty = false;
    for (std::size_t d = 0; d < 3; ++d) {
      phase.count[d] = ceil_divide(shape.out[d] - phase.first[d], shape.stride[d]);
      empty = empty || phase.first[d] >= shape.out[d];
    }
    if (empty)
      continue;
    for (std::int64_t tap = 0; tap < shape.taps(); ++tap) {
      const std::array<std::int64_t, 3> k{tap / (shape.kernel[1] * shape.kernel[2]),
                                          tap / shape.kernel[2] % shape.kernel[1],
                                          tap % shape.kernel[2]};
      ConvolutionTap entry{tap, {}};
      bool meets = true;
      for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t from = phase.first[d] + shape.padding[d] - k[d] * shape.dilation[d];
        meets = meets && from % shape.stride[d] == 0;
        entry.offset[d] = from / shape.stride[d];
      }
      if (meets)
        phase.taps.push_back(entry);
    }
    result.phases.push_back(std::move(phase));
  }
  return result;
}

Lowering write_convolution(const ConvolutionShape &shape, const ConvolutionTile &tile,
                           const ConvolutionBody &body, const ElementWriter &writer,
                           const std::string &prefix) {
  const ConvolutionPhases all = convolution_phases(shape);
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::int64_t column_blocks = ceil_divide(shape.group_out, tile.channels);
  std::int64_t block = 0, row = 0, tap = 0, most_rows = 0;
  std::string phase_rows, tap_rows;
  for (const ConvolutionPhase &phase : all.phases) {
    const std::int64_t taps = static_cast<std::int64_t>(phase.taps.size());
    phase_rows += (phase_rows.empty() ? "{" : ", {") + numbers(phase.first) + ", " +
                  numbers(phase.count) + ", " + number(block) + ", " + number(tap) + ", " +
                  number(taps) + ", " + number(row) + "}";
    for (const ConvolutionTap &entry : phase.taps)
      tap_rows += (tap_rows.empty() ? "{" : ", {") + number(entry.offset[0]) + ", " +
                  number(entry.offset[1]) + ", " + number(entry.offset[2]) + ", " +
                  number(entry.weight) + "}";
    const std::int64_t pixels = shape.batch * phase.count[0] * phase.count[1] * phase.count[2];
    const std::int64_t rows = ceil_divide(taps * shape.group_in, tile.depth) * tile.depth;
    block += ceil_divide(pixels, tile.pixels) * column_blocks;
    row += rows;
    tap += taps;
    most_rows = std::max(most_rows, rows);
  }
  const std::int64_t padded_out = column_blocks * tile.channels;
  const bool one = all.phases.size() == 1;
  Places places{{"PREFIX", prefix},
                {"PHASE_ROWS", phase_rows},
                {"TAP_ROWS", tap_rows.empty() ? "{0, 0, 0, 0}" : tap_rows},
                {"THREADS", number(tile.threads)},
                {"BM", number(tile.pixels)},
                {"BN", number(tile.channels)},
                {"BK", number(tile.depth)},
                {"WM", number(tile.warp_pixels)},
                {"WN", number(tile.warp_channels)},
                {"N", number(shape.batch)},
                {"CI", number(shape.group_in)},
                {"CO", number(shape.group_out)},
                {"COP", number(padded_out)},
                {"ROWS", number(row)},
                {"COLUMN_BLOCKS", number(column_blocks)},
                {"ROUND", tile.tensor_cores ? prefix + "_round" : ""},
                {"FIND_PHASE", one ? ""
                                   : "  while (which + 1 < " + number(all.phases.size()) +
                                         " && block >= " + prefix +
                                         "_phases[which + 1].block)\n    ++which;"},
                {"TAPS", one ? number(tap) : "phase.taps"},
                {"LOAD", body.load},
                {"WEIGHT", body.weight},
                {"FINISH", body.finish},
                {"PACK_INPUT", shape.transposed ? "group * @CI@ + row % @CI@" : "row % @CI@"},
                {"PACK_OUTPUT", shape.transposed ? "column" : "group * @CO@ + column"}};
  const std::array<char, 3> letters{'D', 'H', 'W'};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string letter(1, letters[d]);
    places["I" + letter] = number(shape.in[d]);
    places["K" + letter] = number(shape.kernel[d]);
    places["IS" + letter] = number(all.input_step[d]);
    places["OS" + letter] = number(all.output_step[d]);
    places["Q" + letter] = one ? number(all.phases.front().count[d])
                               : "phase.count[" + number(static_cast<std::int64_t>(d)) + "]";
  }
  for (const char *name : {"PACK_INPUT", "PACK_OUTPUT"})
    places[name] = fill_places(places[name], places);
  places["FETCH"] =
      fill_places(shape.group_in % tile.depth == 0 ? kFetchOneTap : kFetchAnyTap, places);
  const bool tensor = tile.tensor_cores;
  places["ACCUMULATORS"] = fill_places(tensor ? kTensorAccumulators : kScalarAccumulators, places);
  places["COMPUTE"] = fill_places(tensor ? kTensorCompute : kScalarCompute, places);
  places["STAGE"] = std::string(tensor ? kTensorStage : kScalarStage);
  places["COLUMN_OF_ROW"] = tensor ? "row / 32 * kWN + pass * 32 + row % 8 * 4 + row % 32 / 8"
                                   : "row / kTogether * kTN + pass * kTogether + row % kTogether";

  const std::int64_t a_stride = tile.pixels + 8, b_stride = tile.channels + 8;
  const int per_thread = tile.channels * tile.pixels / 8 / tile.threads;
  const std::int64_t staged_rows = tensor ? tile.channels / tile.warp_channels * 32
                                          : tile.channels / per_thread * std::min(per_thread, 4);
  const std::int64_t bytes =
      4 * std::max(2 * tile.depth * (a_stride + b_stride), staged_rows * (tile.pixels + 4));

  Lowering lowering;
  const std::string scratch = prefix + "_packed";
  lowering.temporaries.push_back(
      {scratch, model::Dtype::Float32,
       Expression(std::max<std::int64_t>(shape.groups * row * padded_out, 4))});
  lowering.source = fill_places(kTables, places);
  if (tensor)
    lowering.source += fill_places(kTensorFunctions, places);
  places["PARAMETERS"] = parameters_with(writer, {"float *__restrict__ packed"});
  lowering.source += fill_places(kPack, places);
  places["PARAMETERS"] = parameters_with(writer, {"const float *__restrict__ packed"});
  lowering.source += fill_places(kMain, places);
  const auto arguments = arguments_with(writer, {scratch});
  if (most_rows > 0)
    lowering.steps.push_back(launch_of(prefix + "_pack", ceil_divide(most_rows * padded_out, 256),
                                       256, arguments, 0,
                                       static_cast<std::int64_t>(all.phases.size()), shape.groups));
  lowering.steps.push_back(
      launch_of(prefix + "_convolution", block, tile.threads, arguments, bytes, shape.groups));
  return lowering;
}

} // namespace warpwright::generator
