// Torch modules of a Python file as facts: classes that derive from nn.Module, each with the task of calling it.
//
// By KernelBench's conventions (`Model`, `get_inputs`, `get_init_inputs`), else by the comment above the class. Buffers and the graph of
// a task are not known here: only running the module tells (a runner's trace). Nothing is run. Thread: pure functions.
#pragma once

#include "analysis/facts.h"
#include "analysis/python/project_imports.h"

namespace warpwright::analysis {

/// Whether `path` is Python by its name.
bool is_python(const std::string &path);

/// Kernels are modules: their task holds the module, their slice is all that a measurement depends on.
/// @param disk where the files of its project are that it imports
FileFacts module_facts(const std::string &path, const std::string &text,
                       const ProjectDisk &disk = no_disk());

/// The comment line for a module that has none, to insert above it. Errors: there is no such class.
Result<std::vector<TextEdit>> module_spec_edits(const std::string &text, const std::string &module);

} // namespace warpwright::analysis
