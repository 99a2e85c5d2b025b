// Edits that bring another program's device source into the user's file: declarations in place of
// the kernel, and the includes that the file lacks.
//
// A declaration that the file already has is left out. A declaration that differs from the file's
// is an error, because the choice is unclear. Namespaces, preprocessor conditions and host code are
// errors too.
#pragma once

#include "generator/text/source/kernel_source.h"

namespace warpwright::source {

/// Edits of the file. The answer's kernel gets the name of the file's kernel.
/// @param answered name of the kernel in `answer`
/// Errors: the reason why the edits are not possible.
Result<Edits> merge_source(const KernelSource &source, const analysis::ParsedUnit &answer,
                           const std::string &answered);

} // namespace warpwright::source
