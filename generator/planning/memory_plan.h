// Memory of temporaries: those whose lives do not overlap share a buffer.
// Thread: pure functions.
#pragma once

#include "support/model/plan.h"

#include <functional>

namespace warpwright::planning {

/// Renames temporaries in the steps of a plan so that dead ones are used again. Only of one dtype, whose extents are constants, and not those
/// that results of ATen steps own.
void share_memory(model::Plan &plan);

/// Calls `visit(name)` for each buffer that a step names, results too.
void for_each_buffer(model::Step &step, const std::function<void(std::string &)> &visit);

} // namespace warpwright::planning
