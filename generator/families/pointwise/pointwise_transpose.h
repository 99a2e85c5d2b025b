// The configuration of pointwise regions that goes through shared memory, for operands whose elements lie across the output's order.
// Thread: pure functions.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::pointwise {

/// None where no large operand lies across.
std::vector<elements::Configuration> transpose_configurations(const ops::GraphIndex &graph,
                                                              const elements::Region &region);
Result<elements::Lowering> lower_transpose(const ops::GraphIndex &graph,
                                           const elements::Region &region,
                                           const elements::Configuration &configuration,
                                           const std::string &prefix);

} // namespace warpwright::families::pointwise
