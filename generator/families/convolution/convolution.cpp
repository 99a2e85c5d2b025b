// Convolution and transposed convolution in one to three dimensions, as an implicit matrix product that includes the
// pointwise ops around it.
//
// The tensor-core configurations multiply in TF32. This is accurate enough only where PyTorch's own convolution runs in
// TF32 (cuDNN's default). Elsewhere the runner refuses the candidate and the FP32-accurate configurations remain. The
// setting "math" is 0 for FP32, 1 for TF32 by mma.sync, 2 for TF32 by wgmma, 3 for FP32-accurate split TF32 by wgmma.
// convolution_guess.h orders the configurations. Omits: vector loads of channels-last input, Winograd and FFT.
#include "generator/families/convolution/convolution_guess.h"
#include "generator/families/convolution/convolution.h"

#include <algorithm>

namespace warpwright::families::convolution {
namespace {

constexpr std::int64_t kMostPhases = 256;

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  const auto shape = elements::convolution_shape(index, anchor);
  const model::Dtype dtype = anchor.type().dtype;
  return shape && model::is_floating(dtype) && dtype != model::Dtype::Float64 &&
         (!shape->transposed ||
          shape->stride[0] * shape->stride[1] * shape->stride[2] <= kMostPhases) &&
         shape->groups <= 65535;
}

using Math = ConvolutionTile::Math;

double estimate(const ops::GraphIndex &index, const model::Node &anchor,
                const elements::DeviceFacts &device) {
  return device.rates.convolution.start_us +
         convolution_microseconds(*elements::convolution_shape(index, anchor), device);
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  return convolution_configurations(*elements::convolution_shape(index, index.node(region.anchor)),
                                    device);
}

Result<ConvolutionTile> tile_of(const elements::Configuration &configuration,
                                const elements::DeviceFacts &device, bool one_phase) {
  const auto math = elements::setting_of(configuration, "math", 0, 3);
  const auto gather = elements::setting_of(configuration, "gather", 0, 1);
  const auto parts = elements::setting_of(configuration, "parts", 1, 64);
  const auto pixels = elements::setting_of(configuration, "pixels", 32, 256);
  const auto channels = elements::setting_of(configuration, "channels", 8, 256);
  const auto depth = elements::setting_of(configuration, "depth", 8, 64);
  const auto threads = elements::setting_of(configuration, "threads", 32, 1024);
  const auto warp_pixels = elements::setting_of(configuration, "warp_pixels", 0, 256);
  const auto warp_channels = elements::setting_of(configuration, "warp_channels", 0, 256);
  for (const auto &setting :
       {math, gather, parts, pixels, channels, depth, threads, warp_pixels, warp_channels})
    if (!setting)
      return std::unexpected(setting.error());
  ConvolutionTile tile{*gather == 1,       *parts,   *pixels,
                       *channels,          *depth,   *warp_pixels,
                       *warp_channels,     *threads, static_cast<Math>(*math),
                       device.tensor_cores};
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

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  ConvolutionText text(index, region);
  const auto tile =
      tile_of(configuration, device, convolution_phases(text.shape(), false).phases.size() == 1);
  if (!tile)
    return std::unexpected(tile.error());
  return write_convolution(text, *tile, prefix);
}

} // namespace

const elements::Family kConvolutionFamily{"convolution",  claims, true,    true,
                                          configurations, lower,  estimate};

} // namespace warpwright::families::convolution
