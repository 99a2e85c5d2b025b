// Convolution and transposed convolution on tensor cores, with a block's input loaded into shared memory once.
//
// Each tap reads the input in shared memory at its own offset, while a matrix product over gathered rows would fetch
// every element again for each tap. device/convolution_tiles.cuh is the kernel; this file provides its sizes and
// tables. "math" is as in convolution.cpp: 2 for TF32, 3 for FP32-accurate split TF32, 0 for scalars (the CPU backend).
// Omits: sums shared by several blocks, reuse between neighboring depths.
#include "generator/families/convolution/tile_convolution.h"
#include "generator/families/convolution/convolution_guess.h"
#include "generator/families/convolution/tile_convolution_family.h"

#include <algorithm>

namespace warpwright::families::convolution {
namespace {

using Math = ConvolutionTile::Math;

constexpr std::int64_t kMostPhases = 16, kMostTogether = 4, kMostTaps = 64;
constexpr int kWidths[] = {16, 8, 32, 64};

constexpr const char *kTiles =
    "\n"
#include "generator/device/convolution_tiles.cuh.inc"
    ;
constexpr const char *kTensor =
    "\n"
#include "generator/device/tf32.cuh.inc"
    "\n"
#include "generator/device/wgmma_tf32.cuh.inc"
    "\n"
#include "generator/device/convolution_tiles.cuh.inc"
    "\n"
#include "generator/device/convolution_tiles_wgmma.cuh.inc"
    ;

constexpr std::string_view kKernels = R"cuda(
__constant__ warpwright_tiles::Part @PREFIX@_parts[] = @PARTS@;
__constant__ warpwright_tiles::Depth @PREFIX@_depths[] = @DEPTHS@;
__constant__ warpwright_tiles::HeightPhase @PREFIX@_phases[] = @PHASES@;
__constant__ warpwright_tiles::Tap @PREFIX@_taps[] = @PLACES@;
struct @PREFIX@_Sizes {
@SIZES@  static constexpr long long kWeights = @WEIGHTS@;
  static constexpr int kTaps[][2] = @TAPS@;
  static constexpr int kPhaseEnds[] = @ENDS@;
};
using @PREFIX@_Math = warpwright_tiles::@MATH@<@PREFIX@_Sizes>;
extern "C" __global__ void __launch_bounds__(256) @PREFIX@_pack(@PACK_PARAMETERS@) {
  warpwright_tiles::pack<@PREFIX@_Sizes, @PREFIX@_Math>(@PREFIX@_phases, @PREFIX@_taps, packed, @WEIGHT@);
}
extern "C" __global__ void __launch_bounds__(@THREADS@) @PREFIX@_tiles(@PARAMETERS@) {
  warpwright_tiles::multiply<@PREFIX@_Sizes, @PREFIX@_Math>(@PREFIX@_parts, @PREFIX@_depths, @PREFIX@_phases, packed, @INPUT@, @LOAD@, @FINISH@);
}
)cuda";

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  const auto shape = elements::convolution_shape(index, anchor);
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
         shape->groups * elements::ceil_divide(shape->group_out, 16) <= 65535 &&
         shape->channels_in() * shape->in[0] * shape->in[1] * shape->in[2] <
             (std::int64_t{1} << 30) &&
         std::ranges::any_of(kWidths, smallest_fits) &&
         shape->batch * shape->out[0] * shape->out[1] * shape->out[2] < (std::int64_t{1} << 30);
}

using Guesses = std::vector<std::pair<double, elements::Configuration>>;

/// TF32 configurations first, then all others.
std::array<Guesses, 2> guesses_of(const elements::ConvolutionShape &shape,
                                  const elements::DeviceFacts &device) {
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
                elements::Configuration{{"math", static_cast<int>(math)},
                                        {"columns", columns},
                                        {"width", width},
                                        {"m_tiles", m_tiles},
                                        {"groups", groups}});
          }
  }
  for (auto &kind : guesses)
    std::ranges::stable_sort(kind, {}, &std::pair<double, elements::Configuration>::first);
  return guesses;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  auto guesses = guesses_of(*elements::convolution_shape(index, index.node(region.anchor)), device);
  // TF32 and FP32-accurate configurations alternate, as in convolution_guess.cpp.
  std::vector<elements::Configuration> list;
  for (std::size_t i = 0; i < 12; ++i)
    for (auto &kind : guesses)
      if (i < kind.size())
        list.push_back(std::move(kind[i].second));
  return list;
}

double estimate(const ops::GraphIndex &index, const model::Node &anchor,
                const elements::DeviceFacts &device) {
  double least = 1e9;
  for (const Guesses &kind : guesses_of(*elements::convolution_shape(index, anchor), device))
    if (!kind.empty())
      least = std::min(least, kind.front().first);
  return least;
}

Result<ConvolutionBlock> block_of(const elements::Configuration &configuration,
                                  const elements::DeviceFacts &device) {
  const auto math = elements::setting_of(configuration, "math", 0, 3);
  const auto columns = elements::setting_of(configuration, "columns", 8, 128);
  const auto width = elements::setting_of(configuration, "width", 1, 128);
  const auto m_tiles = elements::setting_of(configuration, "m_tiles", 1, 4);
  const auto groups = elements::setting_of(configuration, "groups", 1, 4);
  for (const auto &setting : {math, columns, width, m_tiles, groups})
    if (!setting)
      return std::unexpected(setting.error());
  const ConvolutionBlock block{static_cast<Math>(*math), *columns, *width, *m_tiles, *groups};
  if (block.math == Math::Mma || !runs_on(block.math, device))
    return fail("the tile convolution has no such arithmetic on this device",
                "take a configuration that the family lists");
  return block;
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const auto block = block_of(configuration, device);
  if (!block)
    return std::unexpected(block.error());
  ConvolutionText text(index, region);
  const elements::ConvolutionShape &shape = text.shape();
  const BlockPlan plan = block_plan(shape, *block);
  if (!fits(shape, *block, plan))
    return fail("the tile convolution's block does not fit registers or shared memory",
                "take a configuration that the family lists");
  const bool in_memory = !text.input().empty() && copies_by_place(*block, plan);
  const std::int64_t along = plan.output_step[2];
  const bool whole = text.stores_whole(along);
  text.writer().bound("qw", plan.parts.front().count[2]);

  const std::int64_t column_blocks = elements::ceil_divide(shape.group_out, block->columns);
  const std::int64_t chunks = plan.chunks(shape), most_taps = plan.most_taps();
  std::vector<Numbers> parts, depths, phases, places_of_taps, taps;
  Numbers first_depth, ends{0};
  std::int64_t most_tiles = 0;
  for (const auto &list : plan.depths) {
    first_depth.push_back(std::ssize(depths));
    for (const BlockPlan::Depth &depth : list)
      depths.push_back({depth.offset, depth.kd});
  }
  for (const auto &list : plan.taps) {
    phases.push_back({std::ssize(taps), std::ssize(list)});
    for (const BlockTap &tap : list) {
      places_of_taps.push_back({tap.kh, tap.kw});
      taps.push_back({tap.down * plan.line + tap.across, tap.phase});
    }
    ends.push_back(std::ssize(taps));
  }
  for (const BlockPlan::Part &part : plan.parts) {
    const std::int64_t tiles = shape.batch * part.count[0] *
                               elements::ceil_divide(part.count[1], block->height()) *
                               elements::ceil_divide(part.count[2], block->width);
    most_tiles = std::max(most_tiles, tiles);
    parts.push_back({part.first[0], part.first[1], part.count[0], part.count[1], part.count[2],
                     static_cast<std::int64_t>(part.height_phase), first_depth[part.depth_phase],
                     std::ssize(plan.depths[part.depth_phase]), tiles});
  }
  const std::int64_t weights =
      std::ssize(taps) * shape.kernel[0] * chunks * 8 * block->columns * block->copies();
  const elements::Substitutions places{
      {"PREFIX", prefix},
      {"PARTS", table_text(parts)},
      {"DEPTHS", table_text(depths)},
      {"PHASES", table_text(phases)},
      {"PLACES", table_text(places_of_taps)},
      {"SIZES",
       static_constants({{"kThreads", block->threads()},
                         {"kPositions", block->positions()},
                         {"kWidth", block->width},
                         {"kColumns", block->columns},
                         {"kFragments", block->m_tiles},
                         {"kTogether", along},
                         {"kLine", plan.line},
                         {"kPlane", plan.plane},
                         {"kRows", plan.rows},
                         {"kStage", plan.stage(*block)},
                         {"kFirstRow", plan.first_row},
                         {"kFirstColumn", plan.first_column},
                         {"kColumnBlocks", column_blocks},
                         {"kChunks", chunks},
                         {"kParts", std::ssize(plan.parts)},
                         {"kHeightPhases", std::ssize(plan.taps)},
                         {"kInMemory", in_memory},
                         {"kWhole", whole}}) +
           shape_constants(shape, plan.input_step, plan.output_step, plan.parts.front().count)},
      {"WEIGHTS", std::to_string(weights)},
      {"TAPS", table_text(taps)},
      {"ENDS", row_text(ends)},
      {"MATH", std::string(name(block->math))},
      {"THREADS", std::to_string(block->threads())},
      {"PACK_PARAMETERS", elements::parameters_with(text.writer(), {"float *__restrict__ packed"})},
      {"PARAMETERS",
       elements::parameters_with(text.writer(), {"const float *__restrict__ packed"})},
      {"WEIGHT", text.weight()},
      {"INPUT", in_memory ? text.input() : "nullptr"},
      {"LOAD", in_memory ? "0" : text.load()},
      {"FINISH", whole ? text.finish_all(along) : text.finish()}};

  elements::Lowering lowering;
  const std::string scratch = prefix + "_packed";
  const std::int64_t pieces = shape.groups * column_blocks;
  lowering.temporaries.push_back(
      {scratch, model::Dtype::Float32,
       symbolic::Expression(std::max<std::int64_t>(pieces * weights, 4))});
  lowering.source =
      (block->math == Math::Scalar ? kTiles : kTensor) + elements::fill_places(kKernels, places);
  if (most_taps > 0)
    lowering.steps.push_back(elements::launch_of(
        prefix + "_pack",
        elements::ceil_divide(shape.kernel[0] * chunks * most_taps * 8 * block->columns, 256), 256,
        elements::arguments_with(text.writer(), {scratch}), 0, std::ssize(plan.taps), pieces));
  lowering.steps.push_back(elements::launch_of(prefix + "_tiles", most_tiles, block->threads(),
                                               elements::arguments_with(text.writer(), {scratch}),
                                               plan.shared_bytes(*block), pieces,
                                               std::ssize(plan.parts)));
  return lowering;
}

} // namespace

const elements::Family kTileConvolutionFamily{"tiles",        claims, true,    true,
                                              configurations, lower,  estimate};

} // namespace warpwright::families::convolution
