// Phases of a convolution: sets of outputs that share their taps, and the inputs that the taps read.
#pragma once

#include "generator/elements/convolution_shape.h"

namespace warpwright::families::convolution {

/// A filter tap of a phase: its weight, and the offset of its input element from the phase's position.
struct ConvolutionTap {
  std::int64_t weight = 0; ///< flat position in the filter
  std::array<std::int64_t, 3> offset{};
};

/// Outputs at first + q * output_step, q in [0, count). Each sums the same taps over inputs at q * input_step + offset.
/// A plain convolution has one phase; a transposed one has as many phases per dimension as its stride there.
struct ConvolutionPhase {
  std::array<std::int64_t, 3> first{}, count{};
  std::vector<ConvolutionTap> taps;
};

struct ConvolutionPhases {
  std::array<std::int64_t, 3> output_step{1, 1, 1}, input_step{1, 1, 1};
  std::vector<ConvolutionPhase> phases;
};

/// @param gather makes one phase of the last dimension of a transposed convolution:
/// each output visits every tap, and most taps of strided ones read no input.
/// Neighboring threads then store neighbors, for `stride` times as many products.
ConvolutionPhases convolution_phases(const elements::ConvolutionShape &shape, bool gather);

} // namespace warpwright::families::convolution
