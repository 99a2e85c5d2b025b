// Which regions of a plan are alike, as the layers of a network are: a search changes those together.
//
// Leaves out operands' values and names. Thread: pure functions.
#pragma once

#include "generator/planning/plan_builder.h"

namespace warpwright::planning {

/// Equal for regions of one family whose anchors differ only in name and operands; pointwise regions by their ops and shape.
std::string kind_of(const ops::GraphIndex &graph, const BuiltRegion &built);

} // namespace warpwright::planning
