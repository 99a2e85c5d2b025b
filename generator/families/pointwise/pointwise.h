// Regions without an anchor: pointwise ops and views. Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

/// Claims no anchor: partition hands it the regions that have none.
extern const Family kPointwiseFamily;

} // namespace warpwright::generator
