// The configuration of pointwise regions that goes through shared memory, for operands whose elements lie across the output's order.
// Thread: pure functions.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

/// None where no large operand lies across.
std::vector<Configuration> transpose_configurations(const GraphIndex &graph, const Region &region);
Result<Lowering> lower_transpose(const GraphIndex &graph, const Region &region,
                                 const Configuration &configuration, const std::string &prefix);

} // namespace warpwright::generator
