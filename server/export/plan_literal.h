// A verified plan as a Python literal, by which runtime/warpwright_runtime/exported_plan.py calls it. Everything is evaluated at the sizes that
// were measured. Thread: pure functions.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

#include <string>

namespace warpwright::server {

/// Of the GPU that verified a plan, what another must match to run it.
struct VerifiedDevice {
  int compute_capability = 0; ///< 90; 0: no GPU did, any runs it
  int multiprocessors = 0;    ///< at least so many
};

VerifiedDevice verified_device(const model::DeviceInfo &device);

/// How forward is called and what it gives: Python literals with `...` for each tensor.
struct CallPatterns {
  std::string inputs;  ///< a list, "[..., 3.14]"; empty: tensors alone
  std::string outputs; ///< "...", "(..., {'h': ...})"; empty: one tensor, or a tuple of them
  /// Dicts (runner/torch/python/call_guards.py), one for each way in which the plan was verified.
  std::vector<std::string> guards;
};

/// The dict, over several lines, without the kernels' text but with its hash.
/// Errors: a step that torch cannot do; patterns that are no literals, as a runner that is not to be trusted may send them.
Result<std::string> plan_literal(const model::Task &task, const model::Graph &graph,
                                 const model::Plan &plan, const CallPatterns &patterns,
                                 const VerifiedDevice &device);

/// The text with `by` in each place of `what`, which is not empty.
std::string replaced(std::string text, std::string_view what, std::string_view by);

} // namespace warpwright::server
