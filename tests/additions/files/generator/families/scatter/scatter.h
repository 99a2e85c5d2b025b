// Additions at indices, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::scatter {

extern const elements::Family kScatterFamily;

} // namespace warpwright::families::scatter
