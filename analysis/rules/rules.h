// Entry points of the rules, for the table in registry.cpp. Each rule's file describes the rule.
// Thread: the unit's thread.
#pragma once

#include "analysis/rules/rule.h"

namespace warpwright::analysis {

void check_uncoalesced_access(const RuleInput &input, std::vector<Diagnostic> &out);
void check_bank_conflict(const RuleInput &input, std::vector<Diagnostic> &out);
void check_double_arithmetic(const RuleInput &input, std::vector<Diagnostic> &out);
void check_missing_bounds_check(const RuleInput &input, std::vector<Diagnostic> &out);
void check_divergent_barrier(const RuleInput &input, std::vector<Diagnostic> &out);
void check_missing_const(const RuleInput &input, std::vector<Diagnostic> &out);
void check_missing_restrict(const RuleInput &input, std::vector<Diagnostic> &out);
void check_block_size(const RuleInput &input, std::vector<Diagnostic> &out);
void check_tree_reduction(const RuleInput &input, std::vector<Diagnostic> &out);
void check_atomic_contention(const RuleInput &input, std::vector<Diagnostic> &out);
void check_shared_memory_race(const RuleInput &input, std::vector<Diagnostic> &out);

} // namespace warpwright::analysis
