// Functions over tensors as facts of a file, beside its kernels: each with the torch task of calling it.
//
// The graph is read from the text where that can be followed; else a runner compiles the function and traces it. Thread: any.
#pragma once

#include "analysis/parsed_unit.h"
#include "analysis/task/spec.h"

namespace warpwright::generator {

/// Whether `path` is C++ without CUDA by its name. Of such files nothing but their torch functions is of interest: what else stands in them
/// is clangd's, and headers that the stand-ins do not know would only give false alarms.
bool is_host_cpp(const std::string &path);

/// Appends the file's torch functions to its kernels, and mistakes in their comments to its diagnostics. Does nothing for a file that
/// does not speak of tensors, or that cannot be parsed at all.
/// @param extra facts from elsewhere (`--spec`)
void add_torch_functions(const analysis::SourceFile &file, const analysis::ParseSettings &settings,
                         analysis::FileFacts &facts, const analysis::Spec &extra = {});

} // namespace warpwright::generator
