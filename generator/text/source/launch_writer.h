// The user's one launch turned into another over the same task: callee, arguments, grid, block, shared memory.
//
// What comes out the same for all sizes of the task stays as it is written. Thread: that of the source's unit.
#pragma once

#include "generator/text/source/launch_site.h"

namespace warpwright::generator {

/// The launch of a plan that has exactly one; null otherwise.
const model::LaunchStep *only_launch(const model::Plan &plan);

/// Whether they are equal for every sizes that the task names; the kernel's name aside.
bool same_launch(const model::LaunchStep &left, const model::LaunchStep &right,
                 const model::Task &task);

/// Edits of the file. @param source with one launch @param task whose reference has one launch
/// Errors: what of `wanted` cannot be written there.
Result<std::vector<TextEdit>> write_launch(const KernelSource &source, const model::Task &task,
                                           const model::LaunchStep &wanted);

} // namespace warpwright::generator
