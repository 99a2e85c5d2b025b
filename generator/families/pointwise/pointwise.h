// The family of regions without an anchor: pointwise ops and views.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::pointwise {

/// The family claims no anchor; partitioning assigns it the regions that have none.
extern const elements::Family kPointwiseFamily;

} // namespace warpwright::families::pointwise
