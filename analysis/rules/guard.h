// Edits that put unprotected memory accesses under a condition.
// Thread: the unit's thread.
#pragma once

#include "analysis/rules/rule.h"

namespace warpwright::analysis {

/// Statements from the body down to `target`, both included; empty if `target` is not in the body.
std::vector<const clang::Stmt *> path_to(const clang::Stmt *body, const clang::Stmt *target);

/// Puts each access under `condition`. A store becomes `if (condition) store`. A load that is a
/// whole right-hand side becomes `condition ? load : 0`. nullopt if an access has neither form.
std::optional<std::vector<TextEdit>> guard_accesses(const RuleInput &input,
                                                    const RuleKernel &kernel,
                                                    const std::vector<const AccessSite *> &sites,
                                                    const std::string &condition);

/// End of a statement in the text, including its semicolon; nullopt inside macros.
std::optional<std::size_t> end_of_statement(const RuleInput &input, const clang::Stmt *statement);

/// "\n" and the indentation of the line that contains `offset`.
std::string new_line_at(const RuleInput &input, std::size_t offset);

} // namespace warpwright::analysis
