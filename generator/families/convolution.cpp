// Convolution and transposed convolution over one to three dimensions, as an implicit matrix product with everything pointwise around it.
//
// On tensor cores the products are TF32, which is right exactly where PyTorch's own convolution runs in TF32 (cuDNN's default); where it does not,
// the runner refuses the candidate and the FP32-accurate configurations remain. A configuration says "math": 0 FP32, 1 TF32 by mma.sync,
// 2 TF32 by wgmma, 3 FP32-accurate split TF32 by wgmma. Which of them PyTorch's library would take cannot be told from sizes, so the
// guesses alternate. Leaves out: channels-last input read by whole vectors, Winograd and FFT. Thread: pure functions.
#include "generator/families/convolution_kernel.h"
#include "generator/families/window_families.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

constexpr std::int64_t kMostPhases = 256;

bool claims(const GraphIndex &index, const model::Node &anchor) {
  const auto shape = convolution_shape(index, anchor);
  const model::Dtype dtype = anchor.type().dtype;
  return shape && model::is_floating(dtype) && dtype != model::Dtype::Float64 &&
         (!shape->transposed ||
          shape->stride[0] * shape->stride[1] * shape->stride[2] <= kMostPhases) &&
         shape->groups <= 65535;
}

using Math = ConvolutionTile::Math;
struct TileChoice {
  Math math;
  int pixels, channels, warp_pixels, warp_channels, depth, threads;
};
constexpr TileChoice kTiles[] = {
    {Math::Wgmma, 128, 128, 0, 0, 16, 128}, {Math::Wgmma, 128, 128, 0, 0, 32, 128},
    {Math::Wgmma, 128, 64, 0, 0, 16, 128},  {Math::Wgmma, 128, 64, 0, 0, 32, 128},
    {Math::Wgmma, 128, 96, 0, 0, 16, 128},  {Math::Wgmma, 128, 32, 0, 0, 16, 128},
    {Math::Wgmma, 128, 32, 0, 0, 32, 128},  {Math::Wgmma, 256, 128, 0, 0, 16, 256},
    {Math::Wgmma, 256, 64, 0, 0, 16, 256},  {Math::Wgmma, 256, 64, 0, 0, 32, 256},
    {Math::Split, 128, 64, 0, 0, 16, 128},  {Math::Split, 128, 32, 0, 0, 16, 128},
    {Math::Split, 128, 32, 0, 0, 32, 128},  {Math::Split, 256, 64, 0, 0, 16, 256},
    {Math::Mma, 64, 64, 32, 32, 32, 128},   {Math::Mma, 64, 64, 32, 32, 16, 128},
    {Math::Mma, 128, 64, 64, 32, 16, 128},  {Math::Mma, 128, 32, 32, 32, 16, 128},
    {Math::Mma, 64, 32, 32, 32, 32, 64},    {Math::Scalar, 128, 128, 0, 0, 8, 256},
    {Math::Scalar, 128, 64, 0, 0, 8, 128},  {Math::Scalar, 128, 32, 0, 0, 16, 128},
    {Math::Scalar, 128, 16, 0, 0, 16, 128}, {Math::Scalar, 128, 8, 0, 0, 16, 128},
    {Math::Scalar, 64, 64, 0, 0, 16, 64},
};

bool runs_on(Math math, const DeviceFacts &device) {
  switch (math) {
  case Math::Scalar:
    return true;
  case Math::Mma:
    return device.inline_ptx && device.compute_capability >= 80;
  case Math::Wgmma:
  case Math::Split:
    return device.inline_ptx && device.compute_capability == 90;
  }
  return false;
}

/// Into how many parts the sum of a tile goes, so that the device is full; 1 where it is, or where the sum is short.
int parts_for(const ConvolutionShape &shape, const TileChoice &tile, const DeviceFacts &device) {
  if (convolution_phases(shape, false).phases.size() != 1 || shape.channels_out() > 65535)
    return 1;
  const std::int64_t pixels = shape.batch * shape.out[0] * shape.out[1] * shape.out[2];
  const std::int64_t blocks =
      ceil_divide(pixels, tile.pixels) * ceil_divide(shape.group_out, tile.channels) * shape.groups;
  const std::int64_t chunks = ceil_divide(shape.taps() * shape.group_in, tile.depth);
  const std::int64_t wanted = 2 * device.multiprocessors / blocks;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, chunks / 4), 1, 32));
}

/// Time of a tile by its waves and wasted products, in arbitrary units.
double cost_of(const ConvolutionShape &shape, const TileChoice &tile, const DeviceFacts &device) {
  double blocks = 0;
  for (const ConvolutionPhase &phase : convolution_phases(shape, false).phases)
    blocks += static_cast<double>(
        ceil_divide(shape.batch * phase.count[0] * phase.count[1] * phase.count[2], tile.pixels));
  blocks *= static_cast<double>(ceil_divide(shape.group_out, tile.channels) * shape.groups);
  const double area = tile.pixels * tile.channels;
  // Small tiles read more for each product; a device that is not full waits for one wave.
  const double overhead = 1 + 24.0 / tile.pixels + 24.0 / tile.channels;
  blocks *= parts_for(shape, tile, device);
  const double waves =
      std::max(1.0, blocks / device.multiprocessors) / parts_for(shape, tile, device);
  return waves * area * overhead;
}

std::vector<Configuration> configurations(const GraphIndex &index, const Region &region,
                                          const DeviceFacts &device) {
  const ConvolutionShape shape = *convolution_shape(index, index.node(region.anchor));
  // Each kind of arithmetic ranks its tiles; the kinds then take turns.
  std::vector<std::vector<std::pair<double, const TileChoice *>>> kinds;
  for (const Math math : {Math::Mma, Math::Wgmma, Math::Split, Math::Scalar}) {
    auto &kind = kinds.emplace_back();
    for (const TileChoice &tile : kTiles)
      if (tile.math == math && runs_on(math, device))
        kind.emplace_back(cost_of(shape, tile, device), &tile);
    std::ranges::sort(kind);
  }
  const bool may_gather = shape.transposed && shape.stride[2] > 1;
  std::vector<Configuration> list;
  for (std::size_t rank = 0; rank < std::size(kTiles); ++rank)
    for (const auto &kind : kinds)
      if (rank < kind.size()) {
        const TileChoice &tile = *kind[rank].second;
        const auto add = [&](int gather, int parts) {
          list.push_back({{"math", static_cast<int>(tile.math)},
                          {"pixels", tile.pixels},
                          {"channels", tile.channels},
                          {"depth", tile.depth},
                          {"warp_pixels", tile.warp_pixels},
                          {"warp_channels", tile.warp_channels},
                          {"threads", tile.threads},
                          {"gather", gather},
                          {"parts", parts}});
        };
        if (const int parts = parts_for(shape, tile, device); parts > 1)
          add(0, parts);
        add(0, 1);
        if (may_gather)
          add(1, 1);
      }
  return list;
}

Result<ConvolutionTile> tile_of(const Configuration &configuration, const DeviceFacts &device,
                                bool one_phase) {
  const auto math = setting_of(configuration, "math", 0, 3);
  const auto gather = setting_of(configuration, "gather", 0, 1);
  const auto parts = setting_of(configuration, "parts", 1, 64);
  const auto pixels = setting_of(configuration, "pixels", 32, 256);
  const auto channels = setting_of(configuration, "channels", 8, 256);
  const auto depth = setting_of(configuration, "depth", 8, 64);
  const auto threads = setting_of(configuration, "threads", 32, 1024);
  const auto warp_pixels = setting_of(configuration, "warp_pixels", 0, 256);
  const auto warp_channels = setting_of(configuration, "warp_channels", 0, 256);
  for (const auto &setting :
       {math, gather, parts, pixels, channels, depth, threads, warp_pixels, warp_channels})
    if (!setting)
      return std::unexpected(setting.error());
  ConvolutionTile tile{*gather == 1,   *parts,   *pixels,
                       *channels,      *depth,   *warp_pixels,
                       *warp_channels, *threads, static_cast<Math>(*math)};
  bool fits = runs_on(tile.math, device) && tile.threads % tile.pixels == 0 &&
              tile.depth % (tile.threads / tile.pixels) == 0;
  if (tile.math == Math::Mma)
    fits =
        fits && tile.depth % 8 == 0 && tile.warp_pixels >= 32 && tile.warp_channels >= 32 &&
        tile.warp_pixels % 32 == 0 && tile.warp_channels % 32 == 0 &&
        tile.pixels % tile.warp_pixels == 0 && tile.channels % tile.warp_channels == 0 &&
        tile.pixels / tile.warp_pixels * (tile.channels / tile.warp_channels) * 32 == tile.threads;
  else if (tile.math == Math::Scalar)
    fits = fits && tile.pixels * tile.channels / 8 % tile.threads == 0;
  else
    fits = fits && tile.depth % 8 == 0 && tile.threads == tile.pixels && tile.pixels % 128 == 0 &&
           tile.channels % 32 == 0 && tile.channels <= (tile.math == Math::Split ? 64 : 128);
  if (tile.parts > 1 && (tile.gather || !one_phase))
    return fail("a convolution in several phases does not take its sums in parts");
  if (!fits)
    return fail("the convolution's tile does not divide among its threads",
                "take a configuration that the family lists");
  return tile;
}

Result<Lowering> lower(const GraphIndex &index, const Region &region,
                       const Configuration &configuration, const DeviceFacts &device,
                       const std::string &prefix) {
  const model::Node &anchor = index.node(region.anchor);
  const ConvolutionShape shape = *convolution_shape(index, anchor);
  const auto tile =
      tile_of(configuration, device, convolution_phases(shape, false).phases.size() == 1);
  if (!tile)
    return std::unexpected(tile.error());
  ElementWriter writer(index, region);
  const auto load = [&](std::size_t operand, const Index &at, const std::string &assign) {
    std::string before;
    const std::string value = writer.load(anchor.inputs[operand], at, before);
    return before + "        " + assign + " (float)(" + value + ");\n";
  };
  ConvolutionBody body;
  body.load = load(0, convolution_index(shape, "n", "channel", "d", "h", "w"), "value =");
  // Straight from memory where nothing stands between.
  const auto operand = std::ranges::find(region.inputs, anchor.inputs[0]);
  const model::TensorType input = region_type(index, region, anchor.inputs[0]);
  if (operand != region.inputs.end() && model::is_contiguous(input) &&
      input.dtype == model::Dtype::Float32)
    body.input = "in" + std::to_string(operand - region.inputs.begin());
  const std::string first = shape.transposed ? "input_channel" : "output_channel";
  const std::string second = shape.transposed ? "output_channel" : "input_channel";
  body.weight =
      load(1, convolution_index(shape, first, second, "tap_d", "tap_h", "tap_w"), "value =");
  body.finish = "        float element = sum;\n";
  if (shape.bias)
    body.finish += "        {\n" + load(2, {"channel"}, "element +=") + "        }\n";
  body.finish +=
      writer.store(convolution_index(shape, "n", "channel", "od", "oh", "ow"), "element");
  return write_convolution(shape, *tile, body, writer, prefix);
}

} // namespace

const Family kConvolutionFamily{"convolution", claims, true, true, configurations, lower};

} // namespace warpwright::generator
