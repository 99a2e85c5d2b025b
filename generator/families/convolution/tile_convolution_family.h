// Convolutions as tiles, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::convolution {

extern const elements::Family kTileConvolutionFamily;

} // namespace warpwright::families::convolution
