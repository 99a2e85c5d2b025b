// A verified plan as Python: the user's file, and a `ModelNew` that computes the same with the plan's kernels.
//
// `ModelNew` derives from the user's class, so parameters, state and constructor stay the user's. Its forward calls one C++ function,
// which is the same for all plans and is compiled once a machine: it launches the plan's kernels, which NVRTC compiles at import, and
// calls ATen for library steps, in order, on the current stream. The runner times candidates through the same function. It is in the
// package warpwright_runtime (runtime/), which the text imports; a standalone text holds the package. What the plan was verified for
// (shapes, dtypes, layout, a CUDA device, the submodules and their modes, what forward read of them, flags) is asked at every call, and
// whatever else comes, or needs gradients, goes to the user's own forward: counted by reason in warpwright_fallbacks(), and said once. So
// does everything without the package, and on a machine without a GPU of that kind, where nothing is compiled.
#pragma once

#include "server/export/plan_literal.h"

#include <string>

namespace warpwright::server {

struct ModelText {
  std::string class_name = "ModelNew";
  std::string comment; ///< what was measured, one line or more; put above the kernels
  /// Its capability 90 gives the kernels its architecture-specific instructions, and other GPUs the user's own forward; 0 has the
  /// kernels compiled for whatever is there.
  VerifiedDevice device;
  CallPatterns patterns;
};

/// What goes into the user's file. Its names begin with "_warpwright_" and the class's name.
struct ModelAddition {
  std::string
      kernels; ///< the extension, and a function call(module, inputs): forward's outputs, or None for "not verified"
  std::string call; ///< that function's name
  std::string
      subclass; ///< the class whose forward calls it, else that of the class it derives from
};

/// Errors: as write_model().
Result<ModelAddition> write_addition(const model::Task &task, const model::Graph &graph,
                                     const model::Plan &plan, const ModelText &text);

/// The whole file: the module's source, then the extension and the class.
/// Errors: a task that is no Python module, or a step that torch cannot do.
/// @param graph of the task's module, before any rewrite: says which buffers are the module's own
Result<std::string> write_model(const model::Task &task, const model::Graph &graph,
                                const model::Plan &plan, const ModelText &text);

/// What write_addition() or write_model() gave, alone or in a file, with all that its kernels need in place of the import of the package.
Result<std::string> standalone_text(std::string text);

} // namespace warpwright::server
