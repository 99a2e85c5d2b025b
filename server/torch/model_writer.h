// A verified plan as Python that stands alone: the user's file, and a `ModelNew` that computes the same with the plan's kernels.
//
// `ModelNew` derives from the user's class, so parameters, state and constructor stay the user's. Its forward calls one C++ function,
// compiled by torch.utils.cpp_extension.load_inline: it launches the plan's kernels and calls ATen for library steps, in order, on the
// current stream. The text imports torch and nothing of ours. What the plan was verified for (shapes, dtypes, layout, a CUDA device,
// training mode) is asked at every call, and whatever else comes, or needs gradients, goes to the user's own forward.
// Thread: pure functions.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
#include "support/model/task.h"

#include <string>

namespace warpwright::server {

struct ModelText {
  std::string class_name = "ModelNew";
  std::string comment; ///< what was measured, one line or more; put above the class
  /// Of the GPU: 90 gives the kernels its architecture-specific instructions.
  int compute_capability = 90;
};

/// The whole file: the module's source, then the extension and the class.
/// Errors: a task that is no Python module, or a step that C++ cannot spell.
/// @param graph of the task's module, before any rewrite: says which buffers are the module's own
Result<std::string> write_model(const model::Task &task, const model::Graph &graph,
                                const model::Plan &plan, const ModelText &text);

} // namespace warpwright::server
