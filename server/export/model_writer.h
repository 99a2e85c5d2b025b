// Writer of a verified plan as Python: a decorator of a class and, in the package form, a plan file beside the user's.
// The package form has 20 lines at most. They import the package warpwright and name the plan file, which
// runtime/warpwright_runtime/plan_file.py reads. The class's own forward runs where a call differs from the verified
// one (shapes, dtypes, layout, device, submodules and their modes, attributes that forward reads, flags), where it
// needs gradients, without the package, and without a GPU of the verified kind. Differing calls are counted by reason
// and reported once. The standalone form (standalone.h) needs no package and no plan file. A plan that does not fit it
// gets the package form, whose comment says why.
#pragma once

#include "server/export/plan_literal.h"

#include <string>

namespace warpwright::server {

struct ModelText {
  std::string class_name = "ModelNew";
  std::string comment; ///< measured results, one line or more, above the decorator
  /// Capability 90: kernels may use the instructions of that architecture, and other GPUs run the user's own forward.
  /// Capability 0: the kernels are compiled for any GPU.
  VerifiedDevice device;
  CallPatterns patterns;
  std::string plan_file; ///< name of the plan file, beside the user's file
  bool standalone = false;
};

struct ModelAddition {
  std::string decorator; ///< text before a class; its last line decorates the class
  std::string subclass;  ///< a class to decorate, derived from the user's class
  std::string plan_file; ///< text of the plan file; empty for the standalone form
};

/// The addition for a plan. Errors: a task that is no Python module, or a step that torch cannot run.
/// @param graph graph of the task's module before any rewrite; it tells which buffers belong to the module
Result<ModelAddition> write_addition(const model::Task &task, const model::Graph &graph,
                                     const model::Plan &plan, const ModelText &text);

/// The module's source, then the decorated class.
std::string whole_file(const std::string &source, const ModelAddition &addition);

} // namespace warpwright::server
