// Functions over tensors as facts of a file, next to its kernels: each with the torch task of
// calling it.
//
// The computation of a function is not read from its text. When the user optimizes a function, a
// runner compiles and traces it. Thread: any.
#pragma once

#include "analysis/parsed_unit.h"
#include "analysis/task/spec.h"

namespace warpwright::analysis {

/// Whether the file name of `path` is that of C++ without CUDA. Only torch functions of such files
/// are analyzed: clangd covers the rest, and headers without stand-ins would cause false
/// diagnostics.
bool is_host_cpp(const std::string &path);

/// Appends the file's torch functions to its kernels, and errors in their comments to its
/// diagnostics. Does nothing for a file that does not mention tensors or cannot be parsed.
/// @param extra facts from elsewhere (`--spec`)
void add_torch_functions(const SourceFile &file, const ParseSettings &settings,
                         FileFacts &facts, const Spec &extra = {});

} // namespace warpwright::analysis
