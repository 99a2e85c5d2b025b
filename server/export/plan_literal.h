// Writer of a verified plan as a Python literal, which runtime/warpwright_runtime/exported_plan.py runs. All its
// expressions are evaluated at the measured sizes.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

#include <string>

namespace warpwright::server {

/// Properties of the GPU that verified a plan, which another GPU must match to run the plan.
struct VerifiedDevice {
  int compute_capability = 0; ///< such as 90; 0: no GPU verified the plan, any may run it
  int multiprocessors = 0;    ///< the minimum
};

VerifiedDevice verified_device(const model::DeviceInfo &device);

/// Patterns of forward's arguments and results: Python literals with `...` for each tensor.
struct CallPatterns {
  std::string inputs;  ///< a list such as "[..., 3.14]"; empty: only tensors
  std::string outputs; ///< "...", "(..., {'h': ...})"; empty: one tensor or a tuple of tensors
  /// Dicts of call_guards.py (in runner/torch/python), one for each kind of call that the plan was verified for.
  std::vector<std::string> guards;
};

/// The plan as a dict over several lines, with the hash of the kernels' text in place of the text.
/// Errors: a step that torch cannot run; patterns that are no literals, which an untrusted runner may send.
Result<std::string> plan_literal(const model::Task &task, const model::Graph &graph,
                                 const model::Plan &plan, const CallPatterns &patterns,
                                 const VerifiedDevice &device);

/// The text with each `what` replaced by `by`. @param what not empty
std::string replaced(std::string text, std::string_view what, std::string_view by);

} // namespace warpwright::server
