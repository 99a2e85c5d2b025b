// Configurations of the convolution family for a shape, ordered by a time model.
#pragma once

#include "generator/families/convolution/convolution_kernel.h"

namespace warpwright::families::convolution {

bool runs_on(ConvolutionTile::Math math, const elements::DeviceFacts &device);

/// All tiles that the device can run, the fastest by estimate first. Kinds of arithmetic
/// alternate, because only a run shows which are as accurate as PyTorch's convolution:
/// TF32 by wgmma, FP32-accurate, wgmma again, TF32 by mma.sync, FP32-accurate.
std::vector<elements::Configuration>
convolution_configurations(const elements::ConvolutionShape &shape,
                           const elements::DeviceFacts &device);

/// Estimated time of the fastest configuration, by the same model.
double convolution_microseconds(const elements::ConvolutionShape &shape,
                                const elements::DeviceFacts &device);

} // namespace warpwright::families::convolution
