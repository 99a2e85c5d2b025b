// Scans along a dimension: cumsum, cumprod, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::scan {

extern const elements::Family kScanFamily;

} // namespace warpwright::families::scan
