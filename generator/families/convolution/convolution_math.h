// How a block of the implicit-GEMM convolution multiplies: FP32 on the ordinary cores, TF32 by mma.sync, TF32 by wgmma, and FP32-accurate
// split TF32 by wgmma. Each is a set of texts for the places of convolution_kernel.cpp's template.
// Thread: pure functions.
#pragma once

#include "generator/families/convolution/convolution_kernel.h"

namespace warpwright::generator {

struct ConvolutionMath {
  std::string functions; ///< device functions, before the kernels
  std::string accumulators, fetch_weights, put_weights, compute, stage, column_of_row;
  std::string pack_store;         ///< of `value` at (group, phase.row + row, column)
  std::string round_input;        ///< a function's name; empty: as it is
  std::int64_t weight_floats = 0; ///< of one step's weights in shared memory
  std::int64_t weight_copies = 1; ///< 2: high and low parts
  std::int64_t staged_rows = 0;   ///< channels that leave together
};

/// Device functions PREFIX_round, to TF32, and PREFIX_high, the first part of a number in two TF32 parts; the other is PREFIX_round of the
/// rest. All families that multiply in such parts take them from here.
std::string_view tf32_functions();

/// Texts with their places still open.
ConvolutionMath convolution_math(const ConvolutionTile &tile, const std::string &prefix);

} // namespace warpwright::generator
