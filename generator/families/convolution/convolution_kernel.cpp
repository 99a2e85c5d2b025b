// Writer of the implicit-GEMM convolution: sizes, tables and wrapper kernels around device/convolution.cuh.
#include "generator/families/convolution/convolution_kernel.h"

#include "arch/generations.h"
#include "generator/elements/tensor_text.h"

#include <algorithm>

namespace warpwright::families::convolution {
namespace {

using Math = ConvolutionTile::Math;

constexpr const char *kParts =
    "\n"
#include "generator/device/tf32.cuh.inc"
    ;
constexpr const char *kProduct =
    "\n"
#include "generator/device/convolution.cuh.inc"
    ;
constexpr const char *kMma =
    "\n"
#include "generator/device/convolution_mma.cuh.inc"
    ;
constexpr const char *kWgmma =
    "\n"
#include "generator/device/wgmma_tf32.cuh.inc"
    "\n"
#include "generator/device/convolution_wgmma.cuh.inc"
    ;

/// Headers of GPU generations with tensor-core instructions other than mma.sync. A new generation adds a line.
const std::vector<elements::TensorText> kProducts = {};

constexpr std::string_view kOwnProduct = R"cuda(
#define WARPWRIGHT_OWN_MULTIPLY_TF32
namespace warpwright_convolution {
__device__ __forceinline__ void multiply_tf32(float *sum, float a0, float a1, float a2, float a3, float b0, float b1) {
  const unsigned a[4] = {__float_as_uint(a0), __float_as_uint(a1), __float_as_uint(a2), __float_as_uint(a3)};
  const unsigned b[2] = {__float_as_uint(b0), __float_as_uint(b1)};
  @SPACE@::multiply(*reinterpret_cast<float (*)[4]>(sum), a, b);
}
} // namespace warpwright_convolution
)cuda";

constexpr std::string_view kKernels = R"cuda(
__constant__ warpwright_convolution::Phase @PREFIX@_phases[] = @PHASES@;
__constant__ warpwright_convolution::Tap @PREFIX@_taps[] = @TAPS@;
struct @PREFIX@_Sizes {
@SIZES@  static constexpr auto kFetch = warpwright_convolution::Fetch::@FETCH@;
};
using @PREFIX@_Math = warpwright_convolution::@MATH@<@PREFIX@_Sizes>;
extern "C" __global__ void __launch_bounds__(256) @PREFIX@_pack(@PACK_PARAMETERS@) {
  warpwright_convolution::@PACK@packed, @WEIGHT@);
}
extern "C" __global__ void __launch_bounds__(@THREADS@) @PREFIX@_convolution(@PARAMETERS@) {
  warpwright_convolution::multiply<@PREFIX@_Sizes, @PREFIX@_Math>(@PREFIX@_phases, @PREFIX@_taps, packed, @INPUT@, @PARTIAL@, @LOAD@, @FINISH@);
}
)cuda";

constexpr std::string_view kJoin = R"cuda(
extern "C" __global__ void __launch_bounds__(256) @PREFIX@_join(@PARAMETERS@) {
  warpwright_convolution::join<@PREFIX@_Sizes>(partial, @FINISH@);
}
)cuda";

/// Wrapper of the generation's own fragment product; empty for generations that use mma.sync.
std::string own_product(arch::TensorCores cores) {
  const elements::TensorText *own = elements::text_for(kProducts, cores);
  if (!own)
    return "";
  return "\n" + std::string(own->source) +
         elements::fill_places(kOwnProduct, {{"SPACE", std::string(own->space)}});
}

/// Sizes that must match the device templates: floats of one step's weights in shared memory, copies of a weight, and
/// channels whose sums are stored together.
struct MathSizes {
  std::int64_t weight_floats = 0, copies = 1, staged_rows = 32;
};

MathSizes sizes_of(const ConvolutionTile &tile) {
  MathSizes sizes;
  if (tile.math == Math::Wgmma || tile.math == Math::Split) {
    sizes.copies = tile.math == Math::Split ? 2 : 1;
    sizes.weight_floats = std::int64_t{tile.depth} * tile.channels * sizes.copies;
    return sizes;
  }
  sizes.weight_floats = std::int64_t{tile.depth} * (tile.channels + 8);
  const int per_thread = tile.channels * tile.pixels / 8 / tile.threads;
  sizes.staged_rows = tile.math == Math::Mma ? tile.channels / tile.warp_channels * 32
                                             : tile.channels / per_thread * std::min(per_thread, 4);
  return sizes;
}

/// Dimensions in which a pixel of some phase reads beyond the input.
std::array<bool, 3> leaves(const elements::ConvolutionShape &shape, const ConvolutionPhases &all) {
  std::array<bool, 3> result{};
  for (std::size_t d = 0; d < 3; ++d)
    for (const ConvolutionPhase &phase : all.phases)
      for (const ConvolutionTap &tap : phase.taps)
        result[d] = result[d] || tap.offset[d] < 0 ||
                    (phase.count[d] - 1) * all.input_step[d] + tap.offset[d] >= shape.in[d];
  return result;
}

/// Input channels that one block of pack_blocks takes: a power of two that keeps its tile below 32 KiB.
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

/// Tables of phases and taps, and totals over them.
struct Tables {
  std::vector<Numbers> phases, taps;
  std::int64_t blocks = 0, rows = 0, most_rows = 0;

  Tables(const elements::ConvolutionShape &shape, const ConvolutionTile &tile,
         const ConvolutionPhases &all, std::int64_t column_blocks) {
    for (const ConvolutionPhase &phase : all.phases) {
      const auto &[first, count] = std::tie(phase.first, phase.count);
      const std::int64_t number = std::ssize(phase.taps);
      phases.push_back({first[0], first[1], first[2], count[0], count[1], count[2], blocks, std::ssize(taps), number, rows});
      for (std::int64_t i = 0; i < number; ++i) {
        const ConvolutionTap &tap = phase.taps[static_cast<std::size_t>(i)];
        taps.push_back({tap.offset[0], tap.offset[1], tap.offset[2], tap.weight, rows + i * shape.group_in});
      }
      const std::int64_t pixels = shape.batch * count[0] * count[1] * count[2];
      const std::int64_t own =
          elements::ceil_divide(number * shape.group_in, tile.depth) * tile.depth;
      blocks += elements::ceil_divide(pixels, tile.pixels) * column_blocks;
      rows += own;
      most_rows = std::max(most_rows, own);
    }
  }
};

} // namespace

std::string_view name(Math math) {
  constexpr std::string_view kNames[] = {"Scalar", "Mma", "Wgmma", "Split"};
  return kNames[static_cast<std::size_t>(math)];
}

elements::Lowering write_convolution(ConvolutionText &text, const ConvolutionTile &tile,
                                     const std::string &prefix) {
  const elements::ConvolutionShape &shape = text.shape();
  const elements::ElementWriter &writer = text.writer();
  const ConvolutionPhases all = convolution_phases(shape, tile.gather);
  const MathSizes math = sizes_of(tile);
  const std::int64_t column_blocks = elements::ceil_divide(shape.group_out, tile.channels);
  const Tables tables(shape, tile, all, column_blocks);
  const std::int64_t padded_out = column_blocks * tile.channels;
  const std::int64_t pixels = shape.batch * shape.out[0] * shape.out[1] * shape.out[2];
  const std::int64_t main_floats = 2 * (tile.depth * (std::int64_t{tile.pixels} + 8) + math.weight_floats);
  const std::int64_t sum_floats = std::max(main_floats, math.staged_rows * (std::int64_t{tile.pixels} + 4));
  std::int64_t floats = sum_floats;
  const bool one_tap = shape.group_in % tile.depth == 0, in_memory = !text.input().empty();
  const bool table = !one_tap && in_memory && !tile.gather && fits_table(all, shape.group_in);
  if (table) {
    std::int64_t entries = 0;
    for (const ConvolutionPhase &phase : all.phases)
      entries = std::max(entries, std::ssize(phase.taps) * shape.group_in);
    floats += 2 * entries;
  }
  const std::array<bool, 3> leaving = leaves(shape, all);
  const std::int64_t together = inputs_packed_together(shape.taps());
  const bool in_blocks = one_tap && together >= 4, joins = tile.parts > 1;
  const bool loads = !in_memory || !(one_tap || table);
  const std::string scratch = prefix + "_packed", partial = prefix + "_partial", finish = text.finish();
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::vector<std::string> more{"const float *__restrict__ packed"}, buffers{scratch};
  if (joins) {
    more.emplace_back("float *__restrict__ partial");
    buffers.push_back(partial);
  }
  const std::string tables_text = prefix + "_phases, " + prefix + "_taps, ";
  const std::string packing = prefix + "_Sizes, " + prefix + "_Math";
  const elements::Substitutions places{
      {"PREFIX", prefix},
      {"PHASES", table_text(tables.phases)},
      {"TAPS", table_text(tables.taps)},
      {"SIZES",
       static_constants({{"kThreads", tile.threads},
                         {"kPixels", tile.pixels},
                         {"kChannels", tile.channels},
                         {"kDepth", tile.depth},
                         {"kWarpPixels", tile.warp_pixels},
                         {"kWarpChannels", tile.warp_channels},
                         {"kParts", tile.parts},
                         {"kGather", tile.gather},
                         {"kPhases", std::ssize(all.phases)},
                         {"kTaps", std::ssize(tables.taps)},
                         {"kRows", tables.rows},
                         {"kColumnBlocks", column_blocks},
                         {"kPaddedOut", padded_out},
                         {"kAllPixels", pixels},
                         {"kTableAt", sum_floats},
                         {"kLeavesD", leaving[0]},
                         {"kLeavesH", leaving[1]},
                         {"kLeavesW", leaving[2]},
                         {"kStrideW", shape.stride[2]}}) +
           shape_constants(shape, all.input_step, all.output_step, all.phases.front().count)},
      {"FETCH", one_tap ? in_memory ? "OneTapInMemory" : "OneTap"
                : table ? "Table"
                        : "AnyTap"},
      {"MATH", std::string(name(tile.math))},
      {"THREADS", number(tile.threads)},
      {"PACK_PARAMETERS", elements::parameters_with(writer, {"float *__restrict__ packed"})},
      {"PACK", in_blocks
                   ? "pack_blocks<" + packing + ", " + number(together) + ">(" + prefix + "_taps, "
                   : "pack<" + packing + ">(" + tables_text},
      {"WEIGHT", text.weight()},
      {"PARAMETERS", elements::parameters_with(writer, more)},
      {"INPUT", in_memory && !loads ? text.input() : "nullptr"},
      {"PARTIAL", joins ? "partial" : "nullptr"},
      {"LOAD", loads ? text.load() : "0"},
      {"FINISH", joins ? "0" : finish}};
  elements::Lowering lowering;
  lowering.temporaries.push_back({scratch, model::Dtype::Float32,
                                  symbolic::Expression(std::max<std::int64_t>(
                                      shape.groups * tables.rows * padded_out * math.copies, 4))});
  if (tile.math != Math::Scalar)
    lowering.source += kParts;
  lowering.source += kProduct;
  if (tile.math == Math::Mma)
    lowering.source += own_product(tile.cores) + kMma;
  else if (tile.math != Math::Scalar)
    lowering.source += kWgmma;
  lowering.source += elements::fill_places(kKernels, places);
  if (tables.most_rows > 0)
    lowering.steps.push_back(elements::launch_of(
        prefix + "_pack",
        in_blocks ? padded_out / 8 : elements::ceil_divide(tables.most_rows * padded_out, 256), 256,
        elements::arguments_with(writer, {scratch}), 0,
        in_blocks ? elements::ceil_divide(shape.group_in, together) : std::ssize(all.phases),
        shape.groups));
  lowering.steps.push_back(elements::launch_of(prefix + "_convolution", tables.blocks, tile.threads,
                                               elements::arguments_with(writer, buffers),
                                               4 * floats, shape.groups, tile.parts));
  if (!joins)
    return lowering;
  lowering.temporaries.push_back(
      {partial, model::Dtype::Float32,
       symbolic::Expression(tile.parts * shape.channels_out() * pixels)});
  lowering.source += elements::fill_places(
      kJoin,
      {{"PREFIX", prefix},
       {"PARAMETERS", elements::parameters_with(writer, {"const float *__restrict__ partial"})},
       {"FINISH", finish}});
  lowering.steps.push_back(elements::launch_of(prefix + "_join", elements::ceil_divide(pixels, 256),
                                               256, elements::arguments_with(writer, {partial}), 0,
                                               shape.channels_out()));
  return lowering;
}

} // namespace warpwright::families::convolution
