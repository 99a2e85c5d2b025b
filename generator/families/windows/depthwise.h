// Depthwise convolutions, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::windows {

extern const elements::Family kDepthwiseFamily;

} // namespace warpwright::families::windows
