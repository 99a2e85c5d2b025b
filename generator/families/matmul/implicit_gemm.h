// Convolutions of channels-last images as products ("implicit GEMM"), with the ops that fusion puts
// behind them.
//
// The left operand is never written: the bulk copy engine finds what the window covers (im2col
// tensor maps). All else is the product of matmul_half.cpp. Products of float32 are TF32, for where
// PyTorch's own convolutions are.
#pragma once

#include "generator/families/matmul/matmul_problem.h"

namespace warpwright::families::matmul {

/// The product of a convolution that tensor maps can describe: 16-bit or, in TF32, float32, of one group, not transposed,
/// with channels in multiples of 16 bytes. Errors: another node, or another convolution.
Result<MatmulProblem> window_problem(const ops::GraphIndex &index, const elements::Region &region);

/// Stages of the channels of a tap, and the constants by which the device code finds a tile's positions.
std::int64_t stages_of_tap(const WindowOperand &window);
std::vector<std::pair<std::string, std::int64_t>> window_constants(const WindowOperand &window);

/// The image and the filter as the copy engine reads them. @param positions, outputs of a tile
/// Errors: the operand does not lie channels-last in memory.
Result<model::BufferArgument> image_map(const ops::GraphIndex &index,
                                        const elements::Region &region, const WindowOperand &window,
                                        std::int64_t positions);
Result<model::BufferArgument> filter_map(const ops::GraphIndex &index,
                                         const elements::Region &region,
                                         const WindowOperand &window, std::int64_t outputs);

extern const elements::Family kImplicitGemmFamily;

} // namespace warpwright::families::matmul
