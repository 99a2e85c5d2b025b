// Kinds of regions: a search changes all regions of one kind, as in equal layers, together. Leaves out operands' values
// and names.
#pragma once

#include "generator/planning/plan_builder.h"

namespace warpwright::planning {

/// Returns equal texts for regions of one family whose anchors differ only in name and operands; pointwise regions are
/// compared by their ops and shape.
std::string kind_of(const ops::GraphIndex &graph, const BuiltRegion &built);

} // namespace warpwright::planning
