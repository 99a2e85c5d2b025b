// The text of one implicit-GEMM convolution kernel and of the kernel that packs its weights.
// Thread: pure functions.
#pragma once

#include "generator/families/convolution/convolution_phases.h"

namespace warpwright::generator {

/// Sizes of a block's tile, and how it multiplies. Several parts need one phase.
struct ConvolutionTile {
  bool gather = false; ///< see convolution_phases()
  /// Blocks that share the sum of a tile; a kernel of its own then adds their parts, always in the same order.
  int parts = 1;
  int pixels = 128, channels = 64, depth = 16; ///< depth: products summed a step
  int warp_pixels = 64, warp_channels = 32;    ///< tensor cores only
  int threads = 128;
  enum class Math {
    Scalar, ///< FP32
    Mma,    ///< TF32, mma.sync
    Wgmma,  ///< TF32, sm_90
    Split,  ///< FP32-accurate on TF32 tensor cores, sm_90
  } math = Math::Scalar;
  arch::TensorCores cores{}; ///< the GPU's, for Math::Mma
};

/// Texts at elements: `load` sets `value` at (n, channel, d, h, w); `weight` sets `value` at (output_channel, input_channel, tap_d,
/// tap_h, tap_w) in the filter's own dimension order; `finish` stores `sum` at (n, channel, od, oh, ow).
struct ConvolutionBody {
  std::string load, weight, finish;
  /// The parameter that holds the input, where it lies contiguous in FP32 memory with nothing to compute; else empty.
  std::string input;
};

Lowering write_convolution(const ConvolutionShape &shape, const ConvolutionTile &tile,
                           const ConvolutionBody &body, const ElementWriter &writer,
                           const std::string &prefix);

} // namespace warpwright::generator
