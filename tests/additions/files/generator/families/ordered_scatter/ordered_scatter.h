// Additions at indices, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::ordered_scatter {

extern const elements::Family kOrderedScatterFamily;

} // namespace warpwright::families::ordered_scatter
