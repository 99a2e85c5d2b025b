// Torch modules of a Python file as facts: classes derived from nn.Module, each with the task of
// calling it.
//
// The call is described by KernelBench's conventions (`Model`, `get_inputs`, `get_init_inputs`) or
// by the comment above the class. The buffers and the graph of a task are unknown here, because
// they need a run of the module (a runner's trace). Nothing is run. Thread: pure functions.
#pragma once

#include "analysis/facts.h"
#include "analysis/python/project_imports.h"

namespace warpwright::analysis {

/// Whether the file name of `path` is that of a Python file.
bool is_python(const std::string &path);

/// Modules are stored as kernels: the task holds the module, and the slice holds all text that a
/// measurement depends on.
/// @param disk source of the project files that the module imports
FileFacts module_facts(const std::string &path, const std::string &text,
                       const ProjectDisk &disk = no_disk());

/// The edit that inserts a comment line above a module without one.
/// Errors: the text cannot be parsed or has no such class.
Result<std::vector<TextEdit>> module_spec_edits(const std::string &text, const std::string &module);

} // namespace warpwright::analysis
