// Weights turned channels-last, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::convolution {

extern const elements::Family kWeightLayoutsFamily;

} // namespace warpwright::families::convolution
