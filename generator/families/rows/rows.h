// The family of row reductions: reductions over any dimensions, arg-reductions, softmax, normalizations, and regions
// that combine several of them.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::rows {

extern const elements::Family kRowFamily;

} // namespace warpwright::families::rows
