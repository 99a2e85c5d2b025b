// Tile shapes, sizes and time estimates of the tile convolution; see tile_convolution.cpp.
#pragma once

#include "generator/families/convolution/convolution_kernel.h"

namespace warpwright::families::convolution {

/// Outputs of a block: `columns` channels of `height` x `width` positions, which are 64 * m_tiles * groups positions.
struct ConvolutionBlock {
  ConvolutionTile::Math math = ConvolutionTile::Math::Scalar; ///< Scalar, Wgmma or Split
  int columns = 64, width = 16, m_tiles = 2, groups = 1;
  int positions() const { return 64 * m_tiles * groups; }
  int height() const { return positions() / width; }
  int threads() const { return math == ConvolutionTile::Math::Scalar ? positions() : 128 * groups; }
  int copies() const { return math == ConvolutionTile::Math::Split ? 2 : 1; }
};

/// A tap that reads an input element, for straight-line code over one height phase and one filter depth.
struct BlockTap {
  std::int64_t down = 0, across = 0; ///< from the first row and column of the block's input
  std::int64_t phase = 0;            ///< of the last dimension
  std::int64_t kh = 0, kw = 0;       ///< position in the filter
};

/// Layout of a block's input in shared memory, and the taps that read it.
struct BlockPlan {
  std::array<std::int64_t, 3> input_step{}, output_step{};
  std::int64_t rows = 0, line = 0,
               plane = 0; ///< of the input in shared memory: rows, their pitch, a channel's pitch
  std::int64_t first_row = 0, first_column = 0; ///< offsets of its first element
  std::vector<std::vector<BlockTap>> taps;      ///< by height phase
  struct Depth {
    std::int64_t offset = 0, kd = 0;
  };
  std::vector<std::vector<Depth>> depths; ///< by depth phase
  struct Part {
    std::array<std::int64_t, 3> first{}, count{};
    std::size_t depth_phase = 0, height_phase = 0;
  };
  std::vector<Part> parts;
  std::int64_t most_taps() const;
  std::int64_t chunks(const elements::ConvolutionShape &shape) const {
    return elements::ceil_divide(shape.group_in, 8);
  }
  /// Floats of one pipeline stage: the input of eight channels, then the weights of its taps.
  std::int64_t stage(const ConvolutionBlock &block) const {
    return 8 * plane + most_taps() * 8 * block.columns * block.copies();
  }
  std::int64_t shared_bytes(const ConvolutionBlock &block) const;
};

BlockPlan block_plan(const elements::ConvolutionShape &shape, const ConvolutionBlock &block);
/// True if the sums fit in registers and both stages in shared memory.
bool fits(const elements::ConvolutionShape &shape, const ConvolutionBlock &block,
          const BlockPlan &plan);
/// True if a thread has enough registers to keep the address of each element that it copies.
bool copies_by_place(const ConvolutionBlock &block, const BlockPlan &plan);
/// Estimated time of a launch and of packing its weights, for ranking, microseconds.
double estimated_microseconds(const elements::ConvolutionShape &shape,
                              const ConvolutionBlock &block, const BlockPlan &plan,
                              const elements::DeviceFacts &device);

} // namespace warpwright::families::convolution
