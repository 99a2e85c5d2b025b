// Edits that turn the user's one launch into another over the same task: callee, arguments, grid,
// block, shared memory.
//
// A text whose value is the same for all sizes of the task stays as the user wrote it.
#pragma once

#include "generator/text/source/launch_site.h"

namespace warpwright::source {

/// The launch of a plan that has exactly one; null otherwise.
const model::LaunchStep *only_launch(const model::Plan &plan);

/// Are both equal for all sizes of the task, names of kernels aside?
bool same_launch(const model::LaunchStep &left, const model::LaunchStep &right,
                 const model::Task &task);

/// Edits of the file.
/// @param source with one launch
/// @param task whose reference has one launch
/// Errors: the part of `wanted` that cannot be written there.
Result<Edits> write_launch(const KernelSource &source, const model::Task &task,
                           const model::LaunchStep &wanted);

} // namespace warpwright::source
