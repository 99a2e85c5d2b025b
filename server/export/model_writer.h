// A verified plan as Python: a text that decorates a class, and mostly a plan file beside the user's file.
//
// The package form is 20 lines at most, which import the package warpwright and name the plan file; runtime/warpwright_runtime/plan_file.py
// reads it. Whatever a call was not verified for (shapes, dtypes, layout, a CUDA device, the submodules and their modes, what forward read
// of them, flags), or needs gradients, goes to the class's own forward: counted by reason, and said once. So does everything without the
// package, and on a machine without a GPU of that kind. The standalone form (standalone.h) needs no package and no plan file; a plan that
// cannot have it gets the package form, whose comment says why. Thread: pure functions.
#pragma once

#include "server/export/plan_literal.h"

#include <string>

namespace warpwright::server {

struct ModelText {
  std::string class_name = "ModelNew";
  std::string comment; ///< what was measured, one line or more; put above
  /// Its capability 90 gives the kernels its architecture-specific instructions, and other GPUs the user's own forward; 0 has the
  /// kernels compiled for whatever is there.
  VerifiedDevice device;
  CallPatterns patterns;
  std::string plan_file; ///< the name that the plan file will have, beside the file that the text goes into
  bool standalone = false;
};

struct ModelAddition {
  std::string decorator; ///< what goes before a class; the last line decorates it
  std::string subclass;  ///< a class to decorate, which derives from the user's
  std::string plan_file; ///< the plan file's text; empty: the decorator stands alone
};

/// Errors: a task that is no Python module, or a step that torch cannot do.
/// @param graph of the task's module, before any rewrite: says which buffers are the module's own
Result<ModelAddition> write_addition(const model::Task &task, const model::Graph &graph,
                                     const model::Plan &plan, const ModelText &text);

/// The module's source, then the decorated class.
std::string whole_file(const std::string &source, const ModelAddition &addition);

} // namespace warpwright::server
