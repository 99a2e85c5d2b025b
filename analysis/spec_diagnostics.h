// Errors of the structured comments above a file's kernels; defined in analysis/task/spec.cpp.
#pragma once

#include "analysis/parsed_unit.h"

namespace warpwright::analysis {

/// The diagnostics have the rule "task-spec".
std::vector<Diagnostic> spec_diagnostics(const ParsedUnit &unit);

} // namespace warpwright::analysis
