// Writer of one implicit-GEMM convolution kernel and of the kernel that packs its weights (device/convolution.cuh).
#pragma once

#include "generator/families/convolution/convolution_text.h"

namespace warpwright::families::convolution {

/// Tile sizes and arithmetic of a block. More than one part requires a convolution of one phase.
struct ConvolutionTile {
  bool gather = false; ///< see convolution_phases()
  /// Number of blocks that share the sum of a tile. A separate kernel then adds the parts in a fixed order.
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

/// Name of the arithmetic in the device templates, such as "Mma".
std::string_view name(ConvolutionTile::Math math);

elements::Lowering write_convolution(ConvolutionText &text, const ConvolutionTile &tile,
                                     const std::string &prefix);

} // namespace warpwright::families::convolution
