// Plans of the tile convolution's blocks: the input that a block holds, its taps, resource limits and estimated time.
#include "generator/families/convolution/tile_convolution.h"

#include <algorithm>
#include <cmath>

namespace warpwright::families::convolution {
namespace {

using Math = ConvolutionTile::Math;

constexpr std::int64_t kMostShared = 110 * 1024, kMostLoads = 24;

} // namespace

std::int64_t BlockPlan::most_taps() const {
  std::int64_t most = 0;
  for (const auto &list : taps)
    most = std::max(most, std::ssize(list));
  return most;
}

std::int64_t BlockPlan::shared_bytes(const ConvolutionBlock &block) const {
  return 4 * std::max(2 * stage(block),
                      output_step[2] * block.columns * (std::int64_t{block.positions()} + 4));
}

BlockPlan block_plan(const elements::ConvolutionShape &shape, const ConvolutionBlock &block) {
  // A phase's taps are all combinations of its taps along depth, height and width.
  struct Axis {
    std::int64_t phase, offset, tap;
  };
  BlockPlan plan;
  std::array<std::vector<Axis>, 3> axes;
  for (std::size_t d = 0; d < 3; ++d) {
    plan.input_step[d] = shape.transposed ? 1 : shape.stride[d];
    plan.output_step[d] = shape.transposed ? shape.stride[d] : 1;
    for (std::int64_t phase = 0; phase < plan.output_step[d]; ++phase)
      for (std::int64_t tap = 0; tap < shape.kernel[d]; ++tap) {
        const std::int64_t reach = tap * shape.dilation[d] - shape.padding[d];
        if (!shape.transposed)
          axes[d].push_back({0, reach, tap});
        else if ((phase - reach) % shape.stride[d] == 0)
          axes[d].push_back({phase, (phase - reach) / shape.stride[d], tap});
      }
  }
  const auto least = [](const std::vector<Axis> &axis) {
    std::int64_t low = 0, high = 0;
    for (std::size_t i = 0; i < axis.size(); ++i) {
      low = i ? std::min(low, axis[i].offset) : axis[i].offset;
      high = i ? std::max(high, axis[i].offset) : axis[i].offset;
    }
    return std::pair{low, high};
  };
  const auto [low_h, high_h] = least(axes[1]);
  const auto [low_w, high_w] = least(axes[2]);
  plan.first_row = low_h;
  plan.first_column = low_w;
  plan.rows = (block.height() - 1) * plan.input_step[1] + high_h - low_h + 1;
  plan.line = (block.width - 1) * plan.input_step[2] + high_w - low_w + 1;
  // Channels start eight words apart modulo the 32 banks, because a load reads eight positions of four channels.
  plan.plane = plan.rows * plan.line;
  plan.plane += (40 - plan.plane % 32) % 32;
  plan.taps.resize(static_cast<std::size_t>(plan.output_step[1]));
  for (const Axis &h : axes[1])
    for (const Axis &w : axes[2])
      plan.taps[static_cast<std::size_t>(h.phase)].push_back(
          {h.offset - low_h, w.offset - low_w, w.phase, h.tap, w.tap});
  for (auto &list : plan.taps)
    std::ranges::stable_sort(list, {},
                             [](const BlockTap &tap) { return std::pair{tap.down, tap.across}; });
  plan.depths.resize(static_cast<std::size_t>(plan.output_step[0]));
  for (const Axis &d : axes[0])
    plan.depths[static_cast<std::size_t>(d.phase)].push_back({d.offset, d.tap});
  for (std::int64_t d = 0; d < plan.output_step[0]; ++d)
    for (std::int64_t h = 0; h < plan.output_step[1]; ++h) {
      const std::array<std::int64_t, 3> first{d, h, 0};
      BlockPlan::Part part{first, {}, static_cast<std::size_t>(d), static_cast<std::size_t>(h)};
      for (std::size_t i = 0; i < 3; ++i)
        part.count[i] = elements::ceil_divide(shape.out[i] - std::min(first[i], shape.out[i]),
                                              plan.output_step[i]);
      if (part.count[0] > 0 && part.count[1] > 0)
        plan.parts.push_back(part);
    }
  return plan;
}

bool fits(const elements::ConvolutionShape &shape, const ConvolutionBlock &block,
          const BlockPlan &plan) {
  const std::int64_t along = plan.output_step[2];
  const std::int64_t sums = along * block.m_tiles * block.columns / 2;
  return block.columns % 8 == 0 && block.columns <= 128 && block.positions() % block.width == 0 &&
         sums <= (block.math == Math::Split    ? 32
                  : block.math == Math::Scalar ? 512
                                               : 96) &&
         plan.shared_bytes(block) <= kMostShared &&
         plan.most_taps() * 8 * block.columns * block.copies() < (1 << 24) && shape.taps() > 0;
}

bool copies_by_place(const ConvolutionBlock &block, const BlockPlan &plan) {
  return elements::ceil_divide(8 * plan.plane, block.threads()) <= kMostLoads;
}

// Sums cycles of tensor cores, shared memory and synchronization;
// blocks on one multiprocessor hide part of each other's.
double estimated_microseconds(const elements::ConvolutionShape &shape,
                              const ConvolutionBlock &block, const BlockPlan &plan,
                              const elements::DeviceFacts &device) {
  const arch::TileRates &rates = device.rates.tiles;
  const double threads = block.threads();
  const double registers = 60 + static_cast<double>(plan.output_step[2]) * block.m_tiles *
                                    block.columns / 2 * (block.math == Math::Split ? 2 : 1);
  const double resident = std::max(
      1.0,
      std::min({std::floor(device.registers_multiprocessor / (std::min(registers, 255.0) * threads)),
                std::floor(rates.shared_bytes / (static_cast<double>(plan.shared_bytes(block)) + 1024)), 8.0}));
  const double columns =
      static_cast<double>(shape.groups * elements::ceil_divide(shape.group_out, block.columns));
  std::vector<double> counts;
  double blocks = 0;
  for (const BlockPlan::Part &part : plan.parts) {
    counts.push_back(columns *
                     static_cast<double>(shape.batch * part.count[0] *
                                         elements::ceil_divide(part.count[1], block.height()) *
                                         elements::ceil_divide(part.count[2], block.width)));
    blocks += counts.back();
  }
  const double each = blocks / device.multiprocessors,
               at_once = std::min(resident, std::ceil(each));
  double cycles = 0; // of a multiprocessor, by block
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    const BlockPlan::Part &part = plan.parts[i];
    const double taps = static_cast<double>(plan.taps[part.height_phase].size());
    const double steps = static_cast<double>(plan.depths[part.depth_phase].size()) *
                         static_cast<double>(plan.chunks(shape));
    const double tiles = block.m_tiles * block.groups;
    const double tensor =
        taps * tiles * std::max(block.columns, 32) / 2.0 * (block.math == Math::Split ? 3 : 1);
    const double loads = taps * tiles * 16 +
                         static_cast<double>(plan.plane) * (copies_by_place(block, plan) ? 1 : 8) +
                         taps * block.columns * block.copies() * 0.5;
    const double issue = taps * tiles * (block.math == Math::Split ? 90 : 40);
    const double stores = static_cast<double>(block.positions()) * block.columns *
                          static_cast<double>(plan.output_step[2]) / 32.0 * 3;
    const double step = std::max({tensor * 1.4, loads * 1.2, issue, rates.step_cycles / at_once});
    cycles += counts[i] / blocks * (steps * step + stores + rates.start_cycles / at_once);
  }
  // The last turn is as long as a full one.
  const double turns = std::ceil(each / at_once) > 4 ? each / at_once : std::ceil(each / at_once);
  return rates.pack_us + rates.caution * turns * at_once * cycles / rates.cycles;
}

} // namespace warpwright::families::convolution
