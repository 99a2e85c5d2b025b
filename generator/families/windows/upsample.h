// The family of nearest-neighbor upsampling; see upsample.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::windows {

extern const elements::Family kUpsampleFamily;

} // namespace warpwright::families::windows
