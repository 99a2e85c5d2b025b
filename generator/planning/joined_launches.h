// Launches that do not depend on each other, put into one: each gets a range of the blocks. Products of one left
// operand (queries, keys and values) are such launches; each by itself would often fill a part of the GPU.
#pragma once

#include "generator/elements/family.h"
#include "support/model/plan.h"

namespace warpwright::planning {

/// Groups of steps that became one launch, in the order in which they were joined: indices of steps at that moment.
using JoinedSteps = std::vector<std::vector<std::size_t>>;

/// Joins launches of kernels with bodies (elements::KernelBody) where nothing between them touches their buffers.
/// @param bodies by the kernels' names
/// @param most_threads of a launch that is joined if its block may be smaller than the other's: a large one gains
///        nothing, and may have fewer threads at a time for the other's registers
/// @param asked these are joined; null: all that may be
/// @return what was joined
JoinedSteps join_launches(model::Plan &plan,
                          const std::map<std::string, elements::KernelBody> &bodies,
                          std::int64_t most_threads, const JoinedSteps *asked = nullptr);

} // namespace warpwright::planning
