// Implicit GEMM: rows are output pixels, columns output channels, and the summed dimension runs over filter taps, input channels fastest.
//
// Weights are packed first into [group][tap, input channel][output channel], padded with zeros, so that a step of the main kernel reads
// whole vectors of them and knows one tap for all its input channels. Input elements are fetched where the tap says, by threads on
// neighbouring pixels, into registers while the step before is computed, and then through a double buffer in shared memory.
// Tensor cores: mma.m16n8k8 in TF32, operands rounded to nearest once as they enter shared memory, sums in FP32. Which fragment row stands
// for which pixel is free, so four neighbouring pixels (and channels) are one fragment load of 16 bytes; row strides of 8 modulo 32
// words keep those free of bank conflicts. Without: FP32 products on 8 pixels a thread. Results leave through shared memory, so that
// neighbouring threads store neighbouring pixels. Thread: pure functions.
#include "generator/families/convolution/convolution_kernel.h"

#include "generator/families/convolution/convolution_math.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr std::string_view kTables = R"cuda(
struct @PREFIX@_Phase {
  int first[3], count[3], block, tap, taps, row;
};
__constant__ @PREFIX@_Phase @PREFIX@_phases[] = {@PHASE_ROWS@};
__constant__ int @PREFIX@_taps[][5] = {@TAP_ROWS@}; // offsets, weight, row
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
@PACK_STORE@
}
)cuda";

/// Where each step of the sum has one tap: eight output channels of some inputs and all taps pass through shared memory, so that weights are
/// read as they lie in memory and written as whole sectors.
constexpr std::string_view kPackBlocks = R"cuda(
extern "C" __global__ void __launch_bounds__(256) @PREFIX@_pack(@PARAMETERS@) {
  constexpr int kIn = @PACK_IN@, kTaps = @KD@ * @KH@ * @KW@, kLine = kIn * kTaps + 1;
  __shared__ float tile[8 * kLine];
  const int group = blockIdx.z, column0 = blockIdx.x * 8, input0 = blockIdx.y * kIn;
  for (int e = threadIdx.x; e < 8 * kIn * kTaps; e += 256) {
    const int tap = e % kTaps, @PACK_ORDER@;
    const int tap_d = tap / (@KH@ * @KW@), tap_h = tap / @KW@ % @KH@, tap_w = tap % @KW@;
    float value = 0;
    if (column0 + to < @CO@ && input0 + from < @CI@) {
      const int input_channel = @PACK_FROM@, output_channel = @PACK_TO@;
@WEIGHT@
    }
    tile[to * kLine + from * kTaps + tap] = value;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < 8 * kIn * @SLOTS@; e += 256) {
    const int from = e % 4 + e / 32 % (kIn / 4) * 4, to = e / 4 % 8, slot = e / (8 * kIn);
    const int *const entry = @PREFIX@_taps[slot];
    if (input0 + from < @CI@) {
      const struct { int row; } phase = {0};
      const int row = entry[4] + input0 + from, column = column0 + to;
      const float value = tile[to * kLine + from * kTaps + entry[3]];
@PACK_STORE@
    }
  }
}
)cuda";

constexpr std::string_view kMain = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @PREFIX@_convolution(@PARAMETERS@) {
  constexpr int kBM = @BM@, kBN = @BN@, kBK = @BK@, kThreads = @THREADS@;
  constexpr int kLines = kThreads / kBM, kLoads = kBK / kLines;
  constexpr int kAStride = kBM + 8, kCStride = kBM + 4;
  extern __shared__ __align__(16) float shared[];
  float *const shared_a = shared, *const shared_b = shared + 2 * kBK * kAStride;

  int block = blockIdx.x, which = 0;
@FIND_PHASE@
  const @PREFIX@_Phase &phase = @PREFIX@_phases[which];
  const int count_d = @QD@, count_h = @QH@, count_w = @QW@, taps = @TAPS@;
  block -= phase.block;
  const int group = blockIdx.y, column0 = block % @COLUMN_BLOCKS@ * kBN;
  // The same for all lanes of a warp, which the compiler learns from the shuffle.
  const int line = __shfl_sync(0xffffffffu, threadIdx.x / kBM, 0), local = threadIdx.x % kBM;
  const int pixel = block / @COLUMN_BLOCKS@ * kBM + local;
  const bool inside = pixel < @N@ * count_d * count_h * count_w;
  const int qw = pixel % count_w, qh = pixel / count_w % count_h;
  const int qd = pixel / (count_w * count_h) % count_d, n = pixel / (count_w * count_h * count_d);
  const int d0 = qd * @ISD@, h0 = qh * @ISH@, w0 = qw * @ISW@;
  const int all_chunks = (taps * @CI@ + kBK - 1) / kBK;
  const int part = blockIdx.z, share = (all_chunks + @PARTS@ - 1) / @PARTS@;
  const int first_chunk = part * share;
  const int chunks = first_chunk + share < all_chunks ? first_chunk + share : all_chunks;
@SOURCE@
  float fetched_a[kLoads];
@ACCUMULATORS@
  auto fetch = [&](int chunk, int buffer) {
    (void)buffer;
@FETCH@
@FETCH_WEIGHTS@
  };
  auto put = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      shared_a[(buffer * kBK + line + i * kLines) * kAStride + local] = @ROUND_INPUT@(fetched_a[i]);
@PUT_WEIGHTS@
  };
  if (first_chunk < chunks) {
    fetch(first_chunk, 0);
    put(0);
  }
  __syncthreads();
  for (int chunk = first_chunk; chunk < chunks; ++chunk) {
    const int buffer = (chunk - first_chunk) % 2;
    if (chunk + 1 < chunks)
      fetch(chunk + 1, buffer ^ 1);
    const float *const a_tile = shared_a + buffer * kBK * kAStride;
    const float *const b_tile = shared_b + buffer * kBBuffer;
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

constexpr std::string_view kStorePart =
    R"cuda(        partial[((long long)part * @CHANNELS_OUT@ + channel) * @PIXELS@ + pixel] = sum;)cuda";

/// Adds the parts of tiles and does what follows.
constexpr std::string_view kJoin = R"cuda(
extern "C" __global__ void __launch_bounds__(256) @PREFIX@_join(@PARAMETERS@) {
  const int pixel = blockIdx.x * 256 + threadIdx.x, channel = blockIdx.y;
  if (pixel >= @PIXELS@)
    return;
  const int ow = pixel % @QW@, oh = pixel / @QW@ % @QH@, od = pixel / (@QW@ * @QH@) % @QD@;
  const int n = pixel / (@QW@ * @QH@ * @QD@);
  float sum = 0;
#pragma unroll
  for (int part = 0; part < @PARTS@; ++part)
    sum += partial[((long long)part * @CHANNELS_OUT@ + channel) * @PIXELS@ + pixel];
@FINISH@
}
)cuda";

/// All elements of a step share one tap.
constexpr std::string_view kFetchOneTap = R"cuda(
    const int k0 = chunk * kBK;
    const int *const tap = @PREFIX@_taps[phase.tap + k0 / @CI@];
    const int d = d0 + tap[0], h = h0 + tap[1], w = @W_OF_TAP@;
    const bool valid = inside && @W_MEETS@ d >= 0 && d < @ID@ && h >= 0 && h < @IH@ && w >= 0 && w < @IW@;
@TAP_SOURCE@
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int channel = group * @CI@ + k0 % @CI@ + line + i * kLines;
      float value = 0;
      if (valid) {
@LOAD@
      }
      fetched_a[i] = value;
    })cuda";

/// Elements lie in memory as they are needed: a table in shared memory says how far from the pixel's own place.
constexpr std::string_view kFetchTable = R"cuda(
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int k = chunk * kBK + line + i * kLines;
      float value = 0;
      if (inside && k < taps * @CI@) {
        const int2 entry = table[k];
        if (@TABLE_VALID@)
          value = source[entry.x];
      }
      fetched_a[i] = value;
    })cuda";

constexpr std::string_view kTable = R"cuda(
  int2 *const table = reinterpret_cast<int2 *>(shared + @TABLE_AT@);
  for (int k = threadIdx.x; k < taps * @CI@; k += kThreads) {
    const int *const tap = @PREFIX@_taps[phase.tap + k / @CI@];
    table[k] = make_int2(((k % @CI@ * @ID@ + tap[0]) * @IH@ + tap[1]) * @IW@ + tap[2],
                         (tap[0] + 512) << 20 | (tap[1] + 512) << 10 | (tap[2] + 512));
  }
  __syncthreads();
)cuda";

constexpr std::string_view kSource = R"cuda(
  const float *const source =
      @INPUT@ + ((((long long)n * @CHANNELS@ + group * @CI@) * @ID@ + d0) * @IH@ + h0) * @IW@ + w0;)cuda";

constexpr std::string_view kFetchAnyTap = R"cuda(
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int k = chunk * kBK + line + i * kLines;
      float value = 0;
      if (inside && k < taps * @CI@) {
        const int *const tap = @PREFIX@_taps[phase.tap + k / @CI@];
        const int d = d0 + tap[0], h = h0 + tap[1], w = @W_OF_TAP@;
        const int channel = group * @CI@ + k % @CI@;
        if (@W_MEETS@ d >= 0 && d < @ID@ && h >= 0 && h < @IH@ && w >= 0 && w < @IW@) {
@LOAD@
        }
      }
      fetched_a[i] = value;
    })cuda";

std::string numbers(const std::array<std::int64_t, 3> &values) {
  return "{" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + "}";
}

/// Whether any pixel of any phase looks beyond the input in dimension `d`, and the condition of an element from the table then.
std::string table_condition(const ConvolutionShape &shape, const ConvolutionPhases &all) {
  static constexpr std::string_view kParts[] = {"(unsigned)(d0 + (entry.y >> 20) - 512) < ",
                                                "(unsigned)(h0 + (entry.y >> 10 & 1023) - 512) < ",
                                                "(unsigned)(w0 + (entry.y & 1023) - 512) < "};
  std::string text;
  for (std::size_t d = 0; d < 3; ++d) {
    bool leaves = false;
    for (const ConvolutionPhase &phase : all.phases)
      for (const ConvolutionTap &tap : phase.taps)
        leaves = leaves || tap.offset[d] < 0 ||
                 (phase.count[d] - 1) * all.input_step[d] + tap.offset[d] >= shape.in[d];
    if (leaves)
      text += (text.empty() ? "" : " && ") + std::string(kParts[d]) + std::to_string(shape.in[d]);
  }
  return text.empty() ? "true" : text;
}

/// Input channels of a block of kPackBlocks, so that its tile stays below 32 KiB; a power of two.
std::int64_t inputs_packed_together(std::int64_t taps) {
  std::int64_t together = 32;
  while (together > 1 && together * taps > 1000)
    together /= 2;
  return together;
}

bool fits_table(const ConvolutionPhases &all, std::int64_t channels) {
  for (const ConvolutionPhase &phase : all.phases) {
    if (std::ssize(phase.taps) * channels > 2048)
      return false;
    for (const ConvolutionTap &tap : phase.taps)
      for (const std::int64_t offset : tap.offset)
        if (offset < -512 || offset > 511)
          return false;
  }
  return true;
}

} // namespace

Lowering write_convolution(const ConvolutionShape &shape, const ConvolutionTile &tile,
                           const ConvolutionBody &body, const ElementWriter &writer,
                           const std::string &prefix) {
  const ConvolutionPhases all = convolution_phases(shape, tile.gather);
  const ConvolutionMath math = convolution_math(tile, prefix);
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::int64_t column_blocks = ceil_divide(shape.group_out, tile.channels);
  std::int64_t block = 0, row = 0, tap = 0, most_rows = 0;
  std::string phase_rows, tap_rows;
  for (const ConvolutionPhase &phase : all.phases) {
    const std::int64_t taps = static_cast<std::int64_t>(phase.taps.size());
    phase_rows += (phase_rows.empty() ? "{" : ", {") + numbers(phase.first) + ", " +
                  numbers(phase.count) + ", " + number(block) + ", " + number(tap) + ", " +
                  number(taps) + ", " + number(row) + "}";
    for (std::size_t i = 0; i < phase.taps.size(); ++i) {
      const ConvolutionTap &entry = phase.taps[i];
      tap_rows += (tap_rows.empty() ? "{" : ", {") + number(entry.offset[0]) + ", " +
                  number(entry.offset[1]) + ", " + number(entry.offset[2]) + ", " +
                  number(entry.weight) + ", " +
                  number(row + static_cast<std::int64_t>(i) * shape.group_in) + "}";
    }
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
                {"TAP_ROWS", tap_rows.empty() ? "{0, 0, 0, 0, 0}" : tap_rows},
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
                {"CHANNELS", number(shape.channels_in())},
                {"SW", number(shape.stride[2])},
                {"W_OF_TAP", tile.gather ? "(w0 + tap[2]) / @SW@" : "w0 + tap[2]"},
                {"W_MEETS", tile.gather ? "(w0 + tap[2]) % @SW@ == 0 &&" : ""},
                {"INPUT", body.input},
                {"PARTS", number(tile.parts)},
                {"PIXELS", number(shape.batch * shape.out[0] * shape.out[1] * shape.out[2])},
                {"CHANNELS_OUT", number(shape.channels_out())},
                {"COPIES", number(math.weight_copies)},
                {"ROUND", math.round_input},
                {"ROUND_INPUT", math.round_input},
                {"FIND_PHASE", one ? ""
                                   : "  while (which + 1 < " + number(all.phases.size()) +
                                         " && block >= " + prefix +
                                         "_phases[which + 1].block)\n    ++which;"},
                {"TAPS", one ? number(tap) : "phase.taps"},
                {"LOAD", body.load},
                {"WEIGHT", body.weight},
                {"FINISH", body.finish},
                {"PACK_INPUT", shape.transposed ? "group * @CI@ + row % @CI@" : "row % @CI@"},
                {"SLOTS", number(tap)},
                {"PACK_FROM", shape.transposed ? "group * @CI@ + input0 + from" : "input0 + from"},
                {"PACK_TO", shape.transposed ? "column0 + to" : "group * @CO@ + column0 + to"},
                {"PACK_ORDER", shape.transposed ? "to = e / kTaps % 8, from = e / (kTaps * 8)"
                                                : "from = e / kTaps % kIn, to = e / (kTaps * kIn)"},
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
  for (const char *name :
       {"PACK_INPUT", "PACK_OUTPUT", "PACK_FROM", "PACK_TO", "W_OF_TAP", "W_MEETS"})
    places[name] = fill_places(places[name], places);
  const std::int64_t main_floats =
      2 * (tile.depth * (std::int64_t{tile.pixels} + 8) + math.weight_floats);
  std::int64_t floats = std::max(main_floats, math.staged_rows * (std::int64_t{tile.pixels} + 4));
  const bool one_tap = shape.group_in % tile.depth == 0;
  const bool direct = !body.input.empty();
  places["SOURCE"] = places["TAP_SOURCE"] = "";
  if (one_tap && direct) {
    places["TAP_SOURCE"] = fill_places("    const float *const from = @INPUT@ + ((((long long)n * "
                                       "@CHANNELS@ + group * @CI@ + k0 % "
                                       "@CI@ + line) * @ID@ + d) * @IH@ + h) * @IW@ + w;",
                                       places);
    places["LOAD"] = fill_places(
        "        (void)channel;\n        value = from[i * kLines * (@ID@ * @IH@ * @IW@)];", places);
  }
  if (!one_tap && direct && !tile.gather && fits_table(all, shape.group_in)) {
    places["TABLE_AT"] = number(floats);
    places["TABLE_VALID"] = table_condition(shape, all);
    places["SOURCE"] = fill_places(std::string(kSource) + std::string(kTable), places);
    places["FETCH"] = fill_places(kFetchTable, places);
    std::int64_t entries = 0;
    for (const ConvolutionPhase &phase : all.phases)
      entries = std::max(entries, std::ssize(phase.taps) * shape.group_in);
    floats += 2 * entries;
  } else {
    places["FETCH"] = fill_places(one_tap ? kFetchOneTap : kFetchAnyTap, places);
  }
  places["ACCUMULATORS"] = fill_places(math.accumulators, places);
  places["FETCH_WEIGHTS"] = fill_places(math.fetch_weights, places);
  places["PUT_WEIGHTS"] = fill_places(math.put_weights, places);
  places["COMPUTE"] = fill_places(math.compute, places);
  places["PACK_STORE"] = fill_places(math.pack_store, places);
  places["STAGE"] = math.stage;
  places["COLUMN_OF_ROW"] = math.column_of_row;
  const std::int64_t bytes = 4 * floats;

  Lowering lowering;
  const std::string scratch = prefix + "_packed";
  lowering.temporaries.push_back({scratch, model::Dtype::Float32,
                                  Expression(std::max<std::int64_t>(
                                      shape.groups * row * padded_out * math.weight_copies, 4))});
  lowering.source = fill_places(kTables, places);
  lowering.source += fill_places(math.functions, places);
  places["PARAMETERS"] = parameters_with(writer, {"float *__restrict__ packed"});
  const std::int64_t together = inputs_packed_together(shape.taps());
  const bool in_blocks = one_tap && together >= 4;
  places["PACK_IN"] = number(together);
  lowering.source += fill_places(in_blocks ? kPackBlocks : kPack, places);
  const std::string partial = prefix + "_partial";
  const bool joins = tile.parts > 1;
  places["PARAMETERS"] =
      parameters_with(writer, joins ? std::vector<std::string>{"const float *__restrict__ packed",
                                                               "float *__restrict__ partial"}
                                    : std::vector<std::string>{"const float *__restrict__ packed"});
  if (joins)
    places["FINISH"] = fill_places(kStorePart, places);
  lowering.source += fill_places(kMain, places);
  const std::int64_t phases = std::ssize(all.phases);
  if (most_rows > 0)
    lowering.steps.push_back(launch_of(
        prefix + "_pack", in_blocks ? padded_out / 8 : ceil_divide(most_rows * padded_out, 256),
        256, arguments_with(writer, {scratch}), 0,
        in_blocks ? ceil_divide(shape.group_in, together) : phases, shape.groups));
  lowering.steps.push_back(launch_of(
      prefix + "_convolution", block, tile.threads,
      arguments_with(writer, joins ? std::vector{scratch, partial} : std::vector{scratch}), bytes,
      shape.groups, tile.parts));
  if (!joins)
    return lowering;
  const std::int64_t pixels = shape.batch * shape.out[0] * shape.out[1] * shape.out[2];
  lowering.temporaries.push_back(
      {partial, model::Dtype::Float32, Expression(tile.parts * shape.channels_out() * pixels)});
  places["PARAMETERS"] = parameters_with(writer, {"const float *__restrict__ partial"});
  places["FINISH"] = body.finish;
  lowering.source += fill_places(kJoin, places);
  lowering.steps.push_back(launch_of(prefix + "_join", ceil_divide(pixels, 256), 256,
                                     arguments_with(writer, {partial}), 0, shape.channels_out()));
  return lowering;
}

} // namespace warpwright::generator
