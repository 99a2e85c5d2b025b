// What a rule is and what it is given. One file a rule, one line a rule in registry.cpp.
//
// A rule says why something costs, how much where that is known, and offers an edit that it is sure of; where no edit
// is safe it offers none. Severity: Warning for what is wrong or wastes most of a resource, Information for what
// costs noticeably, Hint for what may help. Rules are pure and never fail. Thread: that of the unit.
#pragma once

#include "analysis/facts/kernel_context.h"

#include <memory>
#include <span>

namespace warpwright::analysis {

/// One kernel, as plain facts and as AST.
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
  /// The kernel that a launch starts, or null.
  const RuleKernel *kernel_of(const clang::CUDAKernelCallExpr *launch) const;
};

struct Rule {
  const char *name;
  void (*check)(const RuleInput &input, std::vector<Diagnostic> &out);
};

/// Every rule; the order is that of the table.
std::span<const Rule> rules();

Diagnostic make_diagnostic(const RuleInput &input, const char *rule, Severity severity, Range range,
                           std::string message);

/// Inserts `text` before `offset`.
TextEdit insertion(std::size_t offset, std::string text);

} // namespace warpwright::analysis
