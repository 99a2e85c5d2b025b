// Convolutions with short sums, on ordinary cores, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::convolution {

extern const elements::Family kDirectConvolutionFamily;

} // namespace warpwright::families::convolution
