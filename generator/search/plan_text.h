// Text of a plan of a traced module, for people and for prompts: its regions with their buffers,
// times and nodes. An author of kernels for a region (generator/planning/written_region.h) needs
// nothing else about it.
#pragma once

#include "generator/search/plan_walk.h"

namespace warpwright::search {

/// Graph with long constants and arguments cut, to be printed.
model::Graph with_short_attributes(model::Graph graph);

/// The regions of a plan, slowest first, alike regions once and numbered as moves number them. The
/// slowest are described whole, the others in one line.
/// @param seconds of regions by key, as measured; other regions have an estimate
std::string plan_text(const planning::BuiltPlan &built,
                      const std::map<std::string, double> &seconds, const arch::NodeRates &rates);

} // namespace warpwright::search
