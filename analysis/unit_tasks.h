// Task inference for all kernels of a unit; defined in analysis/task/infer_task.cpp.
#pragma once

#include "analysis/parsed_unit.h"

#include <utility>
#include <vector>

namespace warpwright::analysis {

/// Sets the task of each kernel from its slice. The unit's host code is read once.
void infer_tasks(const ParsedUnit &unit,
                 const std::vector<std::pair<const clang::FunctionDecl *, Kernel *>> &kernels);

} // namespace warpwright::analysis
