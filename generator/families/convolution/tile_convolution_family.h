// The family of convolutions whose blocks stage their input tile in shared memory; see tile_convolution.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::convolution {

extern const elements::Family kTileConvolutionFamily;

} // namespace warpwright::families::convolution
