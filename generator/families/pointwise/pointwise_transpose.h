// The "transpose" configuration of pointwise regions, for operands whose memory order differs from the output's.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::pointwise {

/// Transposing configurations; empty if no large operand differs in memory order from the outputs.
std::vector<elements::Configuration> transpose_configurations(const ops::GraphIndex &graph,
                                                              const elements::Region &region);
Result<elements::Lowering> lower_transpose(const ops::GraphIndex &graph,
                                           const elements::Region &region,
                                           const elements::Configuration &configuration,
                                           const std::string &prefix);

} // namespace warpwright::families::pointwise
