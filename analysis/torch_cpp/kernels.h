// Functions over tensors as facts of a file, beside its kernels: each with the torch task of calling it.
//
// What a function computes is not read from its text: when the user optimizes it, a runner compiles the function and traces it. Thread: any.
#pragma once

#include "analysis/parsed_unit.h"
#include "analysis/task/spec.h"

namespace warpwright::analysis {

/// Whether `path` is C++ without CUDA by its name. Of such files nothing but their torch functions is of interest: what else stands in them
/// is clangd's, and headers that the stand-ins do not know would only give false alarms.
bool is_host_cpp(const std::string &path);

/// Appends the file's torch functions to its kernels, and mistakes in their comments to its diagnostics. Does nothing for a file that
/// does not speak of tensors, or that cannot be parsed at all.
/// @param extra facts from elsewhere (`--spec`)
void add_torch_functions(const SourceFile &file, const ParseSettings &settings,
                         FileFacts &facts, const Spec &extra = {});

} // namespace warpwright::analysis
