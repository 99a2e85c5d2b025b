// Edits that turn the user's one launch into another over the same task: callee, arguments, grid,
// block, shared memory.
//
// The user's text of a value stays if it equals the new value for all sizes of the task.
#pragma once

#include "generator/text/source/launch_site.h"

namespace warpwright::source {

/// The launch of a plan with exactly one launch; null for other plans.
const model::LaunchStep *only_launch(const model::Plan &plan);

/// True if both are equal for all sizes of the task, apart from names of kernels.
bool same_launch(const model::LaunchStep &left, const model::LaunchStep &right,
                 const model::Task &task);

/// Edits of the file that change its launch to `wanted`.
/// @param source a file with one launch
/// @param task a task whose reference has one launch
/// Errors: the part of `wanted` that the file cannot express.
Result<Edits> write_launch(const KernelSource &source, const model::Task &task,
                           const model::LaunchStep &wanted);

} // namespace warpwright::source
