// Table of rules, and the function that runs them.
//
// Diagnostics are in text order. Kernels that only the token scanner found have no AST and are
// skipped.
// Thread: the unit's thread.
#include "analysis/analyze.h"
#include "analysis/rules/rule.h"
#include "analysis/rules/rules.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace warpwright::analysis {

namespace {

constexpr std::array kRules{
    Rule{"uncoalesced-access", check_uncoalesced_access},
    Rule{"bank-conflict", check_bank_conflict},
    Rule{"double-arithmetic", check_double_arithmetic},
    Rule{"missing-bounds-check", check_missing_bounds_check},
    Rule{"divergent-barrier", check_divergent_barrier},
    Rule{"missing-const", check_missing_const},
    Rule{"missing-restrict", check_missing_restrict},
    Rule{"block-size", check_block_size},
    Rule{"tree-reduction", check_tree_reduction},
    Rule{"atomic-contention", check_atomic_contention},
    Rule{"shared-memory-race", check_shared_memory_race},
};

} // namespace

std::span<const Rule> rules() { return kRules; }

const RuleKernel *RuleInput::kernel_of(const clang::CUDAKernelCallExpr *launch) const {
  const clang::FunctionDecl *launched = ParsedUnit::kernel_of(launch);
  for (const RuleKernel &kernel : kernels)
    if (launched && launched->getCanonicalDecl() == kernel.context->kernel.getCanonicalDecl())
      return &kernel;
  return nullptr;
}

Diagnostic make_diagnostic(const RuleInput &input, const char *rule, Severity severity, Range range,
                           std::string message) {
  return {.rule = rule,
          .severity = severity,
          .message = std::move(message),
          .range = range,
          .line = input.lines.line_of(range.begin) + 1,
          .column = input.lines.column_of(range.begin) + 1,
          .fixes = {}};
}

TextEdit insertion(std::size_t offset, std::string text) {
  return {{offset, offset}, std::move(text)};
}

std::vector<Diagnostic> run_rules(const ParsedUnit &unit, const FileFacts &facts) {
  RuleInput input{unit, facts, {}, unit.line_index()};
  for (const clang::FunctionDecl *kernel : unit.kernels()) {
    const Range name = shown_range(unit, clang::SourceRange(kernel->getLocation()));
    const auto found = std::ranges::find_if(facts.kernels, [&](const Kernel &candidate) {
      return candidate.name_range.begin == name.begin;
    });
    if (found != facts.kernels.end() && kernel->getBody())
      input.kernels.push_back({*found, std::make_unique<KernelContext>(unit, *kernel)});
  }
  std::vector<Diagnostic> diagnostics;
  for (const Rule &rule : rules())
    rule.check(input, diagnostics);
  std::ranges::sort(diagnostics, {},
                    [](const Diagnostic &d) { return std::tie(d.range, d.rule, d.message); });
  return diagnostics;
}

} // namespace warpwright::analysis
