// Scans along a dimension: cumsum, cumprod, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

extern const Family kScanFamily;

} // namespace warpwright::generator
