// The family that converts convolution weights to channels-last; see weight_layouts.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::convolution {

extern const elements::Family kWeightLayoutsFamily;

} // namespace warpwright::families::convolution
