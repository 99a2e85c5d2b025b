// Edits that bring another program's device source into the user's file: declarations in place of
// the kernel, and the includes that the file lacks.
//
// A declaration that the file has too is left out. One that the file has in another form is an
// error, because nothing says which is meant. Namespaces, preprocessor conditions and host code are
// errors too.
#pragma once

#include "generator/text/source/kernel_source.h"

namespace warpwright::source {

/// Edits of the file. The answer's kernel comes under the name of the file's.
/// @param answered name of the kernel in `answer`
/// Errors: why the file cannot take it.
Result<Edits> merge_source(const KernelSource &source, const analysis::ParsedUnit &answer,
                           const std::string &answered);

} // namespace warpwright::source
