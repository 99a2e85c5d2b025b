// Configurations of the convolution family for a shape, in the order of a small model of their time.
// Thread: pure functions.
#pragma once

#include "generator/families/convolution/convolution_kernel.h"

namespace warpwright::families::convolution {

bool runs_on(ConvolutionTile::Math math, const elements::DeviceFacts &device);

/// Every tile that the device can run, likely ones first. Kinds of arithmetic take turns, because only a run tells which of them are as exact
/// as PyTorch's own convolution is: TF32 by wgmma, FP32-accurate, TF32 by wgmma, TF32 by mma.sync, FP32-accurate.
std::vector<elements::Configuration>
convolution_configurations(const elements::ConvolutionShape &shape,
                           const elements::DeviceFacts &device);

/// Estimated time of the quickest configuration, by the same model.
double convolution_microseconds(const elements::ConvolutionShape &shape,
                                const elements::DeviceFacts &device);

} // namespace warpwright::families::convolution
