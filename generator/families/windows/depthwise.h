// The family of depthwise convolutions; see depthwise.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::windows {

extern const elements::Family kDepthwiseFamily;

} // namespace warpwright::families::windows
