// Regions without an anchor: pointwise ops and views. Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::pointwise {

/// Claims no anchor: partition hands it the regions that have none.
extern const elements::Family kPointwiseFamily;

} // namespace warpwright::families::pointwise
