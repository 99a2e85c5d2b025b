// Taps of the direct convolution as tables: inputs that a thread's outputs meet, and their products
// (device/convolution_direct.cuh).
// Thread: pure functions.
#pragma once

#include "generator/families/convolution/convolution_text.h"

namespace warpwright::families::convolution {

/// Phases that one thread makes together: all of the last dimension.
struct Together {
  std::array<std::int64_t, 3> first{}, count{};
  std::vector<std::pair<ConvolutionTap, std::int64_t>> taps; ///< and which of the phases
};

std::vector<Together> together(const ConvolutionPhases &all);

/// Rows of the device template's tables of those names.
struct DirectTaps {
  std::vector<Numbers> heights, steps, products, bits;
  bool masks = false; ///< a mask says which offsets lie in the input; else each is compared

  /// @param straight heights are in straight code
  /// @param leaving dimensions in which an element may lie outside the input
  DirectTaps(const elements::ConvolutionShape &shape, const std::vector<Together> &parts,
             bool straight, const std::array<bool, 3> &leaving);
};

} // namespace warpwright::families::convolution
