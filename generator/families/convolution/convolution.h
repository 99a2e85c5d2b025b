// The family of convolutions as implicit matrix products; see convolution.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::convolution {

extern const elements::Family kConvolutionFamily;

} // namespace warpwright::families::convolution
