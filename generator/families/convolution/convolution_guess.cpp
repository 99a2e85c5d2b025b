// Time model that ranks the tiles of a convolution; see convolution_guess.h.
//
// A block's time is linear in the number of products that it sums. Each tile has two fitted rates: the time of one
// product, and the cost of starting and ending a block. Both come from the cases of bench/results/h200/windows.md (sums
// of 27 to 2304 products). A launch takes its blocks divided over the multiprocessors, plus an uneven last wave. The
// model is for ranking only: long launches took within a third of its estimate, short ones up to several times as long.
// Other GPUs are assumed to rank tiles alike. Omits: fixed costs of a launch, registers, whole numbers of waves.
#include "generator/families/convolution/convolution_guess.h"
#include "arch/generations.h"

#include <algorithm>

namespace warpwright::families::convolution {
namespace {

using Math = ConvolutionTile::Math;

/// @param product_ns time of a multiprocessor for one product of each output of the tile, when the device is full
/// @param start_products cost of starting and ending a block, in products
struct TileChoice {
  Math math;
  int pixels, channels, warp_pixels, warp_channels, depth, threads;
  double product_ns, start_products;
};
constexpr TileChoice kTiles[] = {
    {Math::Wgmma, 128, 128, 0, 0, 16, 128, 27.7, 109},
    {Math::Wgmma, 128, 128, 0, 0, 32, 128, 22.6, 137},
    {Math::Wgmma, 128, 64, 0, 0, 16, 128, 18.0, 82},
    {Math::Wgmma, 128, 64, 0, 0, 32, 128, 15.5, 115},
    {Math::Wgmma, 128, 96, 0, 0, 16, 128, 21.9, 90},
    {Math::Wgmma, 128, 32, 0, 0, 16, 128, 15.5, 46},
    {Math::Wgmma, 128, 32, 0, 0, 32, 128, 13.7, 60},
    {Math::Wgmma, 256, 128, 0, 0, 16, 256, 66.2, 88},
    {Math::Wgmma, 256, 64, 0, 0, 16, 256, 38.1, 83},
    {Math::Wgmma, 256, 64, 0, 0, 32, 256, 42.9, 101},
    {Math::Split, 128, 64, 0, 0, 16, 128, 36.8, 52},
    {Math::Split, 128, 32, 0, 0, 16, 128, 24.2, 27},
    {Math::Split, 128, 32, 0, 0, 32, 128, 22.4, 57},
    {Math::Split, 256, 64, 0, 0, 16, 256, 83.9, 47},
    {Math::Mma, 64, 64, 32, 32, 32, 128, 13.3, 80},
    {Math::Mma, 64, 64, 32, 32, 16, 128, 14.4, 65},
    {Math::Mma, 128, 64, 64, 32, 16, 128, 25.2, 84},
    {Math::Mma, 128, 32, 32, 32, 16, 128, 16.4, 67},
    {Math::Mma, 64, 32, 32, 32, 32, 64, 8.8, 67},
    {Math::Scalar, 128, 128, 0, 0, 8, 256, 131, 19},
    {Math::Scalar, 128, 64, 0, 0, 8, 128, 58.4, 32},
    {Math::Scalar, 128, 32, 0, 0, 16, 128, 31.4, 26},
    {Math::Scalar, 128, 16, 0, 0, 16, 128, 26.9, 9},
    {Math::Scalar, 128, 8, 0, 0, 16, 128, 25.0, 14},
    {Math::Scalar, 64, 64, 0, 0, 16, 64, 28.1, 31},
};

/// Number of input channels below which a step sums several taps; gathered outputs then ran at half the modeled speed.
constexpr std::int64_t kFewChannels = 16;

struct Phase {
  std::int64_t positions, products;
};
std::vector<Phase> phases_of(const elements::ConvolutionShape &shape, bool gather) {
  std::vector<Phase> list;
  for (const ConvolutionPhase &phase : convolution_phases(shape, gather).phases)
    list.push_back({shape.batch * phase.count[0] * phase.count[1] * phase.count[2],
                    static_cast<std::int64_t>(phase.taps.size()) * shape.group_in});
  return list;
}

std::int64_t channel_tiles(const elements::ConvolutionShape &shape, const TileChoice &tile) {
  return elements::ceil_divide(shape.group_out, tile.channels) * shape.groups;
}

/// Number of parts that the sum of a tile is split into to fill
/// the device; 1 if it is full already or the sum is short.
int parts_for(const elements::ConvolutionShape &shape, const TileChoice &tile,
              const std::vector<Phase> &phases, const elements::DeviceFacts &device) {
  if (phases.size() != 1 || shape.channels_out() > 65535)
    return 1;
  const std::int64_t blocks =
      elements::ceil_divide(phases.front().positions, tile.pixels) * channel_tiles(shape, tile);
  const std::int64_t chunks = elements::ceil_divide(shape.taps() * shape.group_in, tile.depth);
  const std::int64_t wanted = 2 * device.multiprocessors / blocks;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, chunks / 4), 1, 32));
}

/// Estimated time of a launch, microseconds.
double time_of(const elements::ConvolutionShape &shape, const TileChoice &tile,
               const std::vector<Phase> &phases, bool gather, int parts,
               const elements::DeviceFacts &device) {
  const arch::ConvolutionRates &rates = device.rates.convolution;
  const std::int64_t scatter = shape.transposed && !gather ? shape.stride[2] : 1;
  const double store_ns =
      scatter == 1
          ? 0
          : rates.scattered_store_ns *
                static_cast<double>(scatter * tile.pixels *
                                    std::min<std::int64_t>(tile.channels, shape.group_out));
  double blocks = 0, all_ns = 0, outputs = 0;
  for (const Phase &phase : phases) {
    const double count = static_cast<double>(elements::ceil_divide(phase.positions, tile.pixels) *
                                             channel_tiles(shape, tile) * parts);
    const double products = static_cast<double>(
        elements::ceil_divide(elements::ceil_divide(phase.products, tile.depth), parts) *
        tile.depth);
    blocks += count;
    all_ns += count * ((products + tile.start_products) * tile.product_ns + store_ns);
    outputs += static_cast<double>(phase.positions * shape.channels_out());
  }
  double time_us = (rates.uneven_waves + blocks / device.multiprocessors) * all_ns / blocks / 1000;
  if (gather && shape.group_in < kFewChannels)
    time_us *= 2;
  if (parts > 1)
    time_us += rates.join_us + outputs * parts * 2 * sizeof(float) / rates.join_bytes;
  return time_us;
}

} // namespace

bool runs_on(Math math, const elements::DeviceFacts &device) {
  switch (math) {
  case Math::Scalar:
    return true;
  case Math::Mma:
    return device.tf32 && device.has_tensor_cores();
  case Math::Wgmma:
    return device.tf32 && device.tensor_cores == arch::TensorCores::Wgmma;
  case Math::Split:
    return device.tensor_cores == arch::TensorCores::Wgmma;
  }
  return false;
}

namespace {

struct Guess {
  double time_us;
  elements::Configuration configuration;
};
struct Kind {
  std::vector<Guess> guesses;
  std::size_t next = 0;
};
struct Kinds {
  Kind wgmma, exact, mma;
};

Kinds guesses_of(const elements::ConvolutionShape &shape, const elements::DeviceFacts &device) {
  Kinds kinds;
  auto &[wgmma, exact, mma] = kinds;
  const std::vector<Phase> apart = phases_of(shape, false);
  const bool may_gather = shape.transposed && shape.stride[2] > 1;
  const std::vector<Phase> together = may_gather ? phases_of(shape, true) : std::vector<Phase>{};
  for (const TileChoice &tile : kTiles) {
    if (!runs_on(tile.math, device))
      continue;
    Kind &kind = tile.math == Math::Wgmma ? wgmma : tile.math == Math::Mma ? mma : exact;
    const auto add = [&](bool gather, int parts) {
      kind.guesses.push_back(
          {time_of(shape, tile, gather ? together : apart, gather, parts, device),
           {{"math", static_cast<int>(tile.math)},
            {"pixels", tile.pixels},
            {"channels", tile.channels},
            {"depth", tile.depth},
            {"warp_pixels", tile.warp_pixels},
            {"warp_channels", tile.warp_channels},
            {"threads", tile.threads},
            {"gather", gather ? 1 : 0},
            {"parts", parts}}});
    };
    if (const int parts = parts_for(shape, tile, apart, device); parts > 1)
      add(false, parts);
    add(false, 1);
    if (may_gather)
      add(true, 1);
  }
  for (Kind *kind : {&wgmma, &exact, &mma})
    std::ranges::stable_sort(kind->guesses, {}, &Guess::time_us);
  return kinds;
}

} // namespace

std::vector<elements::Configuration>
convolution_configurations(const elements::ConvolutionShape &shape,
                           const elements::DeviceFacts &device) {
  Kinds kinds = guesses_of(shape, device);
  auto &[wgmma, exact, mma] = kinds;
  std::vector<elements::Configuration> list;
  const std::vector<Kind *> turns = !device.tf32 ? std::vector{&exact}
                                    : wgmma.guesses.empty()
                                        ? std::vector{&mma, &exact}
                                        : std::vector{&wgmma, &exact, &wgmma, &mma, &exact};
  const std::size_t all = wgmma.guesses.size() + exact.guesses.size() + mma.guesses.size();
  while (list.size() < all)
    for (Kind *kind : turns)
      if (kind->next < kind->guesses.size())
        list.push_back(kind->guesses[kind->next++].configuration);
  return list;
}

double convolution_microseconds(const elements::ConvolutionShape &shape,
                                const elements::DeviceFacts &device) {
  const Kinds kinds = guesses_of(shape, device);
  double least = 1e9;
  for (const Kind *kind : {&kinds.wgmma, &kinds.exact, &kinds.mma})
    if (!kind->guesses.empty())
      least = std::min(least, kind->guesses.front().time_us);
  return least;
}

} // namespace warpwright::families::convolution
