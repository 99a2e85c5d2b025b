// Memory of temporaries: those whose lives do not overlap share a buffer.
#pragma once

#include "support/model/plan.h"

#include <functional>

namespace warpwright::planning {

/// Renames temporaries in the steps of a plan so that dead ones are used again. They must have one dtype and constant
/// extents, and must not be results that ATen steps own.
void share_memory(model::Plan &plan);

/// Calls `visit(name)` for each buffer that a step names, results too.
void for_each_buffer(model::Step &step, const std::function<void(std::string &)> &visit);

} // namespace warpwright::planning
