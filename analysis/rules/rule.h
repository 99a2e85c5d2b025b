// Interface of a rule and its input. Each rule has its own file and one line in registry.cpp.
//
// A rule explains a cost, quantifies it if possible, and offers an edit only if the edit is safe.
// Severity: Warning for errors and for code that wastes most of a resource, Information for
// noticeable costs, Hint for possible improvements. Rules are pure functions and never fail.
// Thread: the unit's thread.
#pragma once

#include "analysis/facts/kernel_context.h"

#include <memory>
#include <span>

namespace warpwright::analysis {

/// One kernel, as plain facts and as an AST.
struct RuleKernel {
  const Kernel &facts;
  std::unique_ptr<KernelContext> context;
};

struct RuleInput {
  const ParsedUnit &unit;
  const FileFacts &facts;
  std::vector<RuleKernel> kernels;
  LineIndex lines;

  std::string text(Range range) const {
    return std::string(unit.text().substr(range.begin, range.size()));
  }
  /// The kernel that a launch starts, or null if it is unknown.
  const RuleKernel *kernel_of(const clang::CUDAKernelCallExpr *launch) const;
};

struct Rule {
  const char *name;
  void (*check)(const RuleInput &input, std::vector<Diagnostic> &out);
};

/// All rules, in the order of the table.
std::span<const Rule> rules();

Diagnostic make_diagnostic(const RuleInput &input, const char *rule, Severity severity, Range range,
                           std::string message);

/// Inserts `text` before `offset`.
TextEdit insertion(std::size_t offset, std::string text);

} // namespace warpwright::analysis
