// Phases of a convolution: sets of outputs that share their taps, with the inputs that these meet.
// Thread: pure functions.
#pragma once

#include "generator/elements/convolution_shape.h"

namespace warpwright::families::convolution {

/// One filter tap of a phase: which weight, and where its input element stands from the phase's position.
struct ConvolutionTap {
  std::int64_t weight = 0; ///< flat position in the filter
  std::array<std::int64_t, 3> offset{};
};

/// Outputs at first + q * output_step, q in [0, count), each summing the same taps of inputs at q * input_step + offset. A plain
/// convolution is one phase; a transposed one with stride s has s a dimension.
struct ConvolutionPhase {
  std::array<std::int64_t, 3> first{}, count{};
  std::vector<ConvolutionTap> taps;
};

struct ConvolutionPhases {
  std::array<std::int64_t, 3> output_step{1, 1, 1}, input_step{1, 1, 1};
  std::vector<ConvolutionPhase> phases;
};

/// @param gather the last dimension of a transposed convolution keeps its outputs together: every tap is looked at for each, and most
/// of the strided ones meet no input. Neighbouring threads then store neighbours, at the cost of `stride` times the products.
ConvolutionPhases convolution_phases(const elements::ConvolutionShape &shape, bool gather);

} // namespace warpwright::families::convolution
