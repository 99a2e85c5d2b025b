// The family of convolutions with short sums, on ordinary cores; see direct_convolution.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::convolution {

extern const elements::Family kDirectConvolutionFamily;

} // namespace warpwright::families::convolution
