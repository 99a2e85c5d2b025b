// The family of scans along a dimension (cumsum, cumprod); see scan.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::scan {

extern const elements::Family kScanFamily;

} // namespace warpwright::families::scan
