// Tap tables of the direct convolution (device/convolution_direct.cuh):
// the inputs that a thread's outputs read, and their products.
#pragma once

#include "generator/families/convolution/convolution_text.h"

namespace warpwright::families::convolution {

/// Phases that one thread computes together: all phases of the last dimension.
struct Together {
  std::array<std::int64_t, 3> first{}, count{};
  std::vector<std::pair<ConvolutionTap, std::int64_t>> taps; ///< tap, index of its phase
};

std::vector<Together> together(const ConvolutionPhases &all);

/// Rows of the device template's tables kHeights, kSteps, kProducts and kBits.
struct DirectTaps {
  std::vector<Numbers> heights, steps, products, bits;
  bool masks = false; ///< a bit mask holds which offsets lie in the input; else each offset is compared

  /// @param straight heights are unrolled as straight-line code
  /// @param leaving dimensions in which an element may lie outside the input
  DirectTaps(const elements::ConvolutionShape &shape, const std::vector<Together> &parts,
             bool straight, const std::array<bool, 3> &leaving);
};

} // namespace warpwright::families::convolution
