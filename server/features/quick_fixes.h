// Code actions that repair findings: one for each fix, and one for all of a file. Thread: any.
#pragma once

#include "server/features/features.h"

namespace warpwright::server::features {

/// Adds the fixes of the findings in the requested range. The first fix of a finding is preferred.
void add_quick_fixes(const Context &context, const protocol::CodeActionParams &params,
                     std::vector<protocol::CodeAction> &actions);

/// Adds one action with the first fix of each finding whose repair neither changes rounding nor
/// promises what the file does not show. Of two fixes that overlap, the later one is left out.
/// Adds nothing if there is no such fix.
void add_fix_all(const Context &context, std::vector<protocol::CodeAction> &actions);

} // namespace warpwright::server::features
