// Depthwise convolutions, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

extern const Family kDepthwiseFamily;

} // namespace warpwright::generator
