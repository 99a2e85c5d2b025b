// The family of additions at places that an index names (scatter_add); see scatter.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::scatter {

extern const elements::Family kScatterFamily;

} // namespace warpwright::families::scatter
