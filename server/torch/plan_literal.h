// A verified plan as a Python literal: what server/torch/runtime/exported_plan.py calls it by. Everything is evaluated at the sizes that
// were measured. Thread: pure functions.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
#include "support/model/task.h"

#include <string>

namespace warpwright::server {

/// How forward is called and what it gives: Python literals with `...` for each tensor.
struct CallPatterns {
  std::string inputs;  ///< a list, "[..., 3.14]"; empty: tensors alone
  std::string outputs; ///< "...", "(..., {'h': ...})"; empty: one tensor, or a tuple of them
};

/// The dict, over several lines.
/// @param source the expression that gives the kernels' text
/// @param compute_capability 90; 0: any
/// Errors: a step that torch cannot do.
Result<std::string> plan_literal(const model::Task &task, const model::Graph &graph,
                                 const model::Plan &plan, const CallPatterns &patterns,
                                 const std::string &source, int compute_capability);

} // namespace warpwright::server
