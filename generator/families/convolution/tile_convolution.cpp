// Convolution and transposed convolution on tensor cores, with the block's input once in shared memory.
//
// A block makes a rectangle of positions. Its input for eight channels and one depth of the filter, with the rim that the filter reaches, comes
// into shared memory as it lies (cp.async while the step before is computed), and every tap reads it there at its own offset: no element is
// fetched again for each tap, as a matrix product over gathered rows would. Weights are packed first, a step's taps in one piece. Of a transposed
// convolution a block makes all phases of the last dimension of an input position together; other phases are blocks of their own, each with
// its taps in straight code. Results leave through shared memory, so that neighbouring threads store neighbouring positions.
// "math" is as in convolution.cpp: 2 TF32, 3 FP32-accurate split TF32, 0 scalars (the CPU backend).
// Leaves out: sums shared by several blocks, reuse between neighbouring depths. Thread: pure functions.
#include "generator/families/convolution/tile_convolution.h"
#include "generator/families/convolution/convolution_guess.h"
#include "generator/families/convolution/tile_convolution_family.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

using Math = ConvolutionTile::Math;

constexpr std::int64_t kMostPhases = 16, kMostTogether = 4, kMostTaps = 64;
constexpr int kWidths[] = {16, 8, 32, 64};

constexpr std::string_view kTables = R"cuda(
__constant__ int @PREFIX@_parts[][9] = {@PARTS@}; // first d, h; counts; height phase; depths, their number; tiles
__constant__ int @PREFIX@_depths[][2] = {@DEPTHS@}; // offset, place in the filter
__constant__ int @PREFIX@_phases[][2] = {@PHASES@}; // of heights: weights before, taps
__constant__ int @PREFIX@_taps[][2] = {@TAPS@};     // of all height phases: place in the filter
)cuda";

constexpr std::string_view kPack = R"cuda(
extern "C" __global__ void __launch_bounds__(256) @PREFIX@_pack(@PARAMETERS@) {
  const int i = blockIdx.x * 256 + threadIdx.x, group = blockIdx.z / @COLUMN_BLOCKS@;
  const int *const phase = @PREFIX@_phases[blockIdx.y], taps = phase[1];
  // (depth, chunk, tap, k, column): neighbouring threads read neighbouring columns' filters.
  if (i >= @KD@ * @CHUNKS@ * taps * 8 * @N@)
    return;
  const int n = i % @N@, k = i / @N@ % 8, slot = i / (8 * @N@) % taps, step = i / (8 * @N@ * taps);
  const int from = step % @CHUNKS@ * 8 + k, to = blockIdx.z % @COLUMN_BLOCKS@ * @N@ + n;
  const int tap_d = step / @CHUNKS@, *const tap = @PREFIX@_taps[phase[0] + slot];
  const int tap_h = tap[0], tap_w = tap[1];
  float value = 0;
  if (from < @CI@ && to < @CO@) {
    const int input_channel = @INPUT_CHANNEL@, output_channel = @OUTPUT_CHANNEL@;
@WEIGHT@
  }
  float *const tile = packed + (long long)blockIdx.z * @WEIGHTS@ +
                      ((long long)phase[0] * (@KD@ * @CHUNKS@) + (long long)step * taps + slot) * (8 * @N@ * @COPIES@) +
                      n / 8 * 64 + k / 4 * 32 + n % 8 * 4 + k % 4;
@PACK_STORE@
}
)cuda";

constexpr std::string_view kMain = R"cuda(
extern "C" __global__ void __launch_bounds__(@THREADS@) @PREFIX@_tiles(@PARAMETERS@) {
  constexpr int kThreads = @THREADS@, kPositions = @POSITIONS@, kWidth = @WIDTH@, kHeight = kPositions / kWidth;
  constexpr int kN = @N@, kM = @M_TILES@, kTogether = @TOGETHER@;
  constexpr int kLine = @LINE@, kPlane = @PLANE@, kRows = @ROWS@, kStage = @STAGE@;
  constexpr int kElements = 8 * kPlane, kLoads = (kElements + kThreads - 1) / kThreads;
  extern __shared__ __align__(128) float shared[];
  const int *const part = @PREFIX@_parts[blockIdx.z];
  const int count_d = @COUNT_D@, count_h = @COUNT_H@, count_w = @COUNT_W@;
  const int height_phase = part[5], tiles_w = (count_w + kWidth - 1) / kWidth;
  const int tiles_h = (count_h + kHeight - 1) / kHeight;
  if (blockIdx.x >= part[8])
    return;
  int tile_index = blockIdx.x;
  const int first_qw = tile_index % tiles_w * kWidth;
  tile_index /= tiles_w;
  const int first_qh = tile_index % tiles_h * kHeight;
  tile_index /= tiles_h;
  const int qd = tile_index % count_d, n = tile_index / count_d;
  const int group = blockIdx.y / @COLUMN_BLOCKS@, column0 = blockIdx.y % @COLUMN_BLOCKS@ * kN;
  const int h_first = first_qh * @ISH@ + @FIRST_ROW@, w_first = first_qw * @ISW@ + @FIRST_COLUMN@;
  const int taps = @PREFIX@_phases[height_phase][1];
  const float *const weights = packed + (long long)blockIdx.y * @WEIGHTS@ +
                               (long long)@PREFIX@_phases[height_phase][0] * (@KD@ * @CHUNKS@ * 8 * kN * @COPIES@);
  (void)height_phase;
@PREPARE@
@SETUP@
  auto fetch = [&](int step, int buffer) {
    const int chunk = step % @CHUNKS@;
    const int *const depth = @PREFIX@_depths[part[6] + step / @CHUNKS@];
    const int d = qd * @ISD@ + depth[0];
    const bool within = d >= 0 && d < @ID@;
    float *const tile = shared + buffer * kStage;
@FETCH@
    const float *const from =
        weights + (long long)(depth[1] * @CHUNKS@ + chunk) * taps * (8 * kN * @COPIES@);
    for (int e = threadIdx.x * 4; e < taps * (8 * kN * @COPIES@); e += kThreads * 4)
      @COPY_16@(tile + kElements + e, from + e);
  };
  const int steps = part[7] * @CHUNKS@;
  if (steps > 0)
    fetch(0, 0);
  for (int step = 0; step < steps; ++step) {
    @COPIED@;
    __syncthreads();
    if (step + 1 < steps)
      fetch(step + 1, (step + 1) % 2);
    const float *const tile = shared + step % 2 * kStage, *const by = tile + kElements;
@COMPUTE@
  }
  __syncthreads();
@UNLOAD@
  __syncthreads();
#pragma unroll 4
  for (int e = threadIdx.x; e < kN * kPositions; e += kThreads) {
    const int position = e % kPositions, column = e / kPositions;
    const int qh = first_qh + position / kWidth, qw = first_qw + position % kWidth;
    if (qh < count_h && qw < count_w && column0 + column < @CO@) {
      const int channel = group * @CO@ + column0 + column;
      const int od = qd * @OSD@ + part[0], oh = qh * @OSH@ + part[1];
      const float *const sums_of = shared + column * (kPositions + 4) + position;
@FINISH@
    }
  }
}
)cuda";

constexpr std::string_view kCopies = R"cuda(
__device__ __forceinline__ void @PREFIX@_copy16(float *to, const float *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from)
               : "memory");
}
__device__ __forceinline__ void @PREFIX@_copy4(float *to, const float *from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "r"(there ? 4 : 0)
               : "memory");
}
__device__ __forceinline__ void @PREFIX@_copied() {
  asm volatile("cp.async.wait_all;\nfence.proxy.async.shared::cta;" ::: "memory");
}
)cuda";

constexpr std::string_view kScalarCopies = R"cuda(
__device__ __forceinline__ void @PREFIX@_copy16(float *to, const float *from) {
  for (int i = 0; i < 4; ++i)
    to[i] = from[i];
}
__device__ __forceinline__ void @PREFIX@_copy4(float *to, const float *from, bool there) {
  *to = there ? *from : 0;
}
__device__ __forceinline__ void @PREFIX@_copied() {}
)cuda";

/// Where this thread's elements of the block's input lie, from the first channel of a step on; -1: outside.
constexpr std::string_view kPrepare = R"cuda(
  int places[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int e = threadIdx.x + i * kThreads, c = e / kPlane, row = e % kPlane / kLine;
    const int h = h_first + row, w = w_first + e % kPlane % kLine;
    places[i] = e < kElements && row < kRows && h >= 0 && h < @IH@ && w >= 0 && w < @IW@
                    ? (c * @ID@ * @IH@ + h) * @IW@ + w
                    : -1;
  })cuda";

constexpr std::string_view kFetch = R"cuda(
    const float *const source =
        @INPUT@ + (((long long)n * @CHANNELS@ + group * @CI@ + chunk * 8) * @ID@ + (within ? d : 0)) * (@IH@ * @IW@);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int e = threadIdx.x + i * kThreads;
      const bool there = within && places[i] >= 0@AND_CHANNEL@;
      if (kElements % kThreads == 0 || e < kElements)
        @PREFIX@_copy4(tile + e, there ? source + places[i] : @INPUT@, there);
    })cuda";

constexpr std::string_view kFetchComputed = R"cuda(
#pragma unroll 4
    for (int e = threadIdx.x; e < kElements; e += kThreads) {
      const int c = e / kPlane, row = e % kPlane / kLine, h = h_first + row, w = w_first + e % kPlane % kLine;
      const int channel = group * @CI@ + chunk * 8 + c;
      float value = 0;
      if (within && chunk * 8 + c < @CI@ && row < kRows && h >= 0 && h < @IH@ && w >= 0 && w < @IW@) {
@LOAD@
      }
      tile[e] = value;
    })cuda";

bool claims(const GraphIndex &index, const model::Node &anchor) {
  const auto shape = convolution_shape(index, anchor);
  const model::Dtype dtype = anchor.type().dtype;
  if (!shape || !model::is_floating(dtype) || dtype == model::Dtype::Float64)
    return false;
  const std::int64_t phases =
      shape->transposed ? shape->stride[0] * shape->stride[1] * shape->stride[2] : 1;
  const auto smallest_fits = [&](int width) {
    const ConvolutionBlock block{Math::Split, 16, width, 1, 1};
    return fits(*shape, block, block_plan(*shape, block));
  };
  return shape->group_in >= 4 && shape->kernel[1] * shape->kernel[2] <= kMostTaps &&
         phases <= kMostPhases && (!shape->transposed || shape->stride[2] <= kMostTogether) &&
         shape->groups * ceil_divide(shape->group_out, 16) <= 65535 &&
         shape->channels_in() * shape->in[0] * shape->in[1] * shape->in[2] <
             (std::int64_t{1} << 30) &&
         std::ranges::any_of(kWidths, smallest_fits) &&
         shape->batch * shape->out[0] * shape->out[1] * shape->out[2] < (std::int64_t{1} << 30);
}

using Guesses = std::vector<std::pair<double, Configuration>>;

/// TF32, and the others.
std::array<Guesses, 2> guesses_of(const ConvolutionShape &shape, const DeviceFacts &device) {
  std::array<Guesses, 2> guesses;
  for (const Math math : {Math::Wgmma, Math::Split, Math::Scalar}) {
    const bool tensor = math != Math::Scalar;
    if (tensor ? !runs_on(math, device) : device.inline_ptx)
      continue;
    for (const int columns : {16, 32, 48, 64, 96, 128})
      for (const int width : kWidths)
        for (const int m_tiles : {1, 2})
          for (const int groups : {1, 2}) {
            const ConvolutionBlock block{math, columns, width, m_tiles, groups};
            if (columns >= 2 * std::max<std::int64_t>(shape.group_out, 16) ||
                (!tensor && (columns > 32 || m_tiles > 1)) || block.positions() < width)
              continue;
            const BlockPlan plan = block_plan(shape, block);
            if (!fits(shape, block, plan))
              continue;
            guesses[math != Math::Wgmma].emplace_back(
                estimated_microseconds(shape, block, plan, device),
                Configuration{{"math", static_cast<int>(math)},
                              {"columns", columns},
                              {"width", width},
                              {"m_tiles", m_tiles},
                              {"groups", groups}});
          }
  }
  for (auto &kind : guesses)
    std::ranges::stable_sort(kind, {}, &std::pair<double, Configuration>::first);
  return guesses;
}

std::vector<Configuration> configurations(const GraphIndex &index, const Region &region,
                                          const DeviceFacts &device) {
  auto guesses = guesses_of(*convolution_shape(index, index.node(region.anchor)), device);
  // TF32 and FP32-accurate take turns, as in convolution_guess.cpp.
  std::vector<Configuration> list;
  for (std::size_t i = 0; i < 12; ++i)
    for (auto &kind : guesses)
      if (i < kind.size())
        list.push_back(std::move(kind[i].second));
  return list;
}

double estimate(const GraphIndex &index, const model::Node &anchor, const DeviceFacts &device) {
  double least = 1e9;
  for (const Guesses &kind : guesses_of(*convolution_shape(index, anchor), device))
    if (!kind.empty())
      least = std::min(least, kind.front().first);
  return least;
}

Result<ConvolutionBlock> block_of(const Configuration &configuration, const DeviceFacts &device) {
  const auto math = setting_of(configuration, "math", 0, 3);
  const auto columns = setting_of(configuration, "columns", 8, 128);
  const auto width = setting_of(configuration, "width", 1, 128);
  const auto m_tiles = setting_of(configuration, "m_tiles", 1, 4);
  const auto groups = setting_of(configuration, "groups", 1, 4);
  for (const auto &setting : {math, columns, width, m_tiles, groups})
    if (!setting)
      return std::unexpected(setting.error());
  const ConvolutionBlock block{static_cast<Math>(*math), *columns, *width, *m_tiles, *groups};
  if (block.math == Math::Mma || !runs_on(block.math, device))
    return fail("the tile convolution has no such arithmetic on this device",
                "take a configuration that the family lists");
  return block;
}

Result<Lowering> lower(const GraphIndex &index, const Region &region,
                       const Configuration &configuration, const DeviceFacts &device,
                       const std::string &prefix) {
  const auto block = block_of(configuration, device);
  if (!block)
    return std::unexpected(block.error());
  const model::Node &anchor = index.node(region.anchor);
  const ConvolutionShape shape = *convolution_shape(index, anchor);
  const BlockPlan plan = block_plan(shape, *block);
  if (!fits(shape, *block, plan))
    return fail("the tile convolution's block does not fit registers or shared memory",
                "take a configuration that the family lists");
  ElementWriter writer(index, region);
  const auto load = [&](std::size_t operand, const Index &at) {
    std::string before;
    const std::string value = writer.load(anchor.inputs[operand], at, before);
    return before + "        value = (float)(" + value + ");\n";
  };
  const auto operand = std::ranges::find(region.inputs, anchor.inputs[0]);
  const model::TensorType input = region_type(index, region, anchor.inputs[0]);
  const bool in_memory = operand != region.inputs.end() && model::is_contiguous(input) &&
                         input.dtype == model::Dtype::Float32 && copies_by_place(*block, plan);
  const std::int64_t along = plan.output_step[2];
  const std::string bias = [&] {
    if (!shape.bias)
      return std::string();
    std::string before;
    const std::string value = writer.load(anchor.inputs[2], {"channel"}, before);
    return before + "        const float added = (float)(" + value + ");\n";
  }();
  const std::string plus = shape.bias ? " + added" : "";
  std::string finish = bias;
  writer.bound("qw", plan.parts.front().count[2]);
  const std::string apart = std::to_string(block->columns * (block->positions() + 4));
  if ((along == 2 || along == 4) && shape.out[2] % along == 0) {
    std::vector<Index> lanes;
    std::vector<std::string> elements;
    for (std::int64_t i = 0; i < along; ++i) {
      elements.push_back("element" + std::to_string(i));
      finish += "        const float " + elements.back() + " = sums_of[" + std::to_string(i) +
                " * " + apart + "]" + plus + ";\n";
      lanes.push_back(convolution_index(shape, "n", "channel", "od", "oh",
                                        std::to_string(along) + " * qw + " + std::to_string(i)));
    }
    finish += writer.store(lanes, elements);
  } else {
    finish += "#pragma unroll\n      for (int phase = 0; phase < kTogether; ++phase) {\n"
              "        const int ow = qw * kTogether + phase;\n        if (ow < @OW@) {\n"
              "        const float element = sums_of[phase * " +
              apart + "]" + plus + ";\n" +
              writer.store(convolution_index(shape, "n", "channel", "od", "oh", "ow"), "element") +
              "        }\n      }\n";
  }

  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::int64_t column_blocks = ceil_divide(shape.group_out, block->columns);
  const std::int64_t chunks = plan.chunks(shape);
  std::string part_rows, depth_rows, phase_rows, tap_rows;
  std::vector<std::int64_t> first_depth;
  std::int64_t depths = 0, taps = 0, most_tiles = 0, most_taps = plan.most_taps();
  const auto row = [&](std::string &rows, const std::vector<std::int64_t> &values) {
    rows += rows.empty() ? "{" : ", {";
    for (std::size_t i = 0; i < values.size(); ++i)
      rows += (i ? ", " : "") + number(values[i]);
    rows += "}";
  };
  for (const auto &list : plan.depths) {
    first_depth.push_back(depths);
    depths += std::ssize(list);
    for (const BlockPlan::Depth &depth : list)
      row(depth_rows, {depth.offset, depth.kd});
  }
  for (const auto &list : plan.taps) {
    row(phase_rows, {taps, std::ssize(list)});
    taps += std::ssize(list);
    for (const BlockTap &tap : list)
      row(tap_rows, {tap.kh, tap.kw});
  }
  for (const BlockPlan::Part &part : plan.parts) {
    const std::int64_t tiles = shape.batch * part.count[0] *
                               ceil_divide(part.count[1], block->height()) *
                               ceil_divide(part.count[2], block->width);
    most_tiles = std::max(most_tiles, tiles);
    row(part_rows, {part.first[0], part.first[1], part.count[0], part.count[1], part.count[2],
                    static_cast<std::int64_t>(part.height_phase), first_depth[part.depth_phase],
                    std::ssize(plan.depths[part.depth_phase]), tiles});
  }
  const std::int64_t weights =
      taps * shape.kernel[0] * chunks * 8 * block->columns * block->copies();
  const bool one = plan.parts.size() == 1;
  const bool tensor = block->math != Math::Scalar;
  const BlockMath math = block_math(plan, *block, prefix);
  Places places{
      {"PREFIX", prefix},
      {"PARTS", part_rows},
      {"DEPTHS", depth_rows.empty() ? "{0, 0}" : depth_rows},
      {"PHASES", phase_rows},
      {"TAPS", tap_rows.empty() ? "{0, 0}" : tap_rows},
      {"THREADS", number(block->threads())},
      {"POSITIONS", number(block->positions())},
      {"WIDTH", number(block->width)},
      {"N", number(block->columns)},
      {"M_TILES", number(block->m_tiles)},
      {"TOGETHER", number(along)},
      {"LINE", number(plan.line)},
      {"PLANE", number(plan.plane)},
      {"ROWS", number(plan.rows)},
      {"STAGE", number(plan.stage(*block))},
      {"FIRST_ROW", "(" + number(plan.first_row) + ")"},
      {"FIRST_COLUMN", "(" + number(plan.first_column) + ")"},
      {"COLUMN_BLOCKS", number(column_blocks)},
      {"CHUNKS", number(chunks)},
      {"COPIES", number(block->copies())},
      {"WEIGHTS", number(weights) + "ll"},
      {"CI", number(shape.group_in)},
      {"CO", number(shape.group_out)},
      {"CHANNELS", number(shape.channels_in())},
      {"INPUT_CHANNEL", shape.transposed ? "group * @CI@ + from" : "from"},
      {"OUTPUT_CHANNEL", shape.transposed ? "to" : "group * @CO@ + to"},
      {"WEIGHT",
       load(1, convolution_index(shape, shape.transposed ? "input_channel" : "output_channel",
                                 shape.transposed ? "output_channel" : "input_channel", "tap_d",
                                 "tap_h", "tap_w"))},
      {"PACK_STORE", !tensor ? "  tile[0] = value;"
                     : block->copies() == 1
                         ? "  tile[0] = " + prefix + "_round(value);"
                         : "  const float high = " + prefix +
                               "_high(value);\n  tile[0] = high;\n  tile[8 * @N@] = " + prefix +
                               "_round(value - high);"},
      {"AND_CHANNEL",
       shape.group_in % 8 == 0 ? "" : " && chunk * 8 + e / kPlane < " + number(shape.group_in)},
      {"COPY_16", prefix + "_copy16"},
      {"COPIED", prefix + "_copied()"},
      {"COMPUTE", math.compute},
      {"UNLOAD", math.unload},
      {"COUNT_D", one ? number(plan.parts.front().count[0]) : "part[2]"},
      {"COUNT_H", one ? number(plan.parts.front().count[1]) : "part[3]"},
      {"COUNT_W", one ? number(plan.parts.front().count[2]) : "part[4]"}};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string letter(1, "DHW"[d]);
    places["I" + letter] = number(shape.in[d]);
    places["O" + letter] = number(shape.out[d]);
    places["K" + letter] = number(shape.kernel[d]);
    places["IS" + letter] = number(plan.input_step[d]);
    places["OS" + letter] = number(plan.output_step[d]);
  }
  if (in_memory)
    places["INPUT"] = "in" + std::to_string(operand - region.inputs.begin());
  else
    places["LOAD"] = load(0, convolution_index(shape, "n", "channel", "d", "h", "w"));
  places["PREPARE"] = in_memory ? fill_places(kPrepare, places) : "";
  places["FETCH"] = fill_places(in_memory ? kFetch : kFetchComputed, places);
  places["SETUP"] = fill_places(math.setup, places);
  places["FINISH"] = fill_places(finish, places);
  for (const char *name : {"INPUT_CHANNEL", "OUTPUT_CHANNEL", "PACK_STORE"})
    places[name] = fill_places(places[name], places);

  Lowering lowering;
  const std::string scratch = prefix + "_packed";
  const std::int64_t pieces = shape.groups * column_blocks;
  lowering.temporaries.push_back(
      {scratch, model::Dtype::Float32, Expression(std::max<std::int64_t>(pieces * weights, 4))});
  lowering.source = fill_places(kTables, places) + math.functions +
                    fill_places(tensor ? kCopies : kScalarCopies, places);
  places["PARAMETERS"] = parameters_with(writer, {"float *__restrict__ packed"});
  lowering.source += fill_places(kPack, places);
  places["PARAMETERS"] = parameters_with(writer, {"const float *__restrict__ packed"});
  lowering.source += fill_places(kMain, places);
  if (most_taps > 0)
    lowering.steps.push_back(
        launch_of(prefix + "_pack",
                  ceil_divide(shape.kernel[0] * chunks * most_taps * 8 * block->columns, 256), 256,
                  arguments_with(writer, {scratch}), 0, std::ssize(plan.taps), pieces));
  lowering.steps.push_back(launch_of(prefix + "_tiles", most_tiles, block->threads(),
                                     arguments_with(writer, {scratch}), plan.shared_bytes(*block),
                                     pieces, std::ssize(plan.parts)));
  return lowering;
}

} // namespace

const Family kTileConvolutionFamily{"tiles", claims, true, true, configurations, lower, estimate};

} // namespace warpwright::generator
