// Edits that put memory accesses under a condition, for rules that find them unprotected.
// Thread: that of the unit.
#pragma once

#include "analysis/rules/rule.h"

namespace warpwright::analysis {

/// Statements from the body down to `target`, both included; empty when it is not there.
std::vector<const clang::Stmt *> path_to(const clang::Stmt *body, const clang::Stmt *target);

/// Puts each access under `condition`: a store's statement behind `if (condition)`, a load that is a whole right-hand
/// side into `condition ? load : 0`. nullopt when one of them fits neither.
std::optional<std::vector<TextEdit>> guard_accesses(const RuleInput &input,
                                                    const RuleKernel &kernel,
                                                    const std::vector<const AccessSite *> &sites,
                                                    const std::string &condition);

/// End of a statement in the text, its semicolon included; nullopt in macros.
std::optional<std::size_t> end_of_statement(const RuleInput &input, const clang::Stmt *statement);

/// "\n" and the indentation of the line that holds `offset`.
std::string new_line_at(const RuleInput &input, std::size_t offset);

} // namespace warpwright::analysis
