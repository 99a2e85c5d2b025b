// The family of sums, maxima and minima at places that an index names; see scatter.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::scatter {

extern const elements::Family kScatterFamily;

} // namespace warpwright::families::scatter
