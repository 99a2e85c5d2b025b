// Diagnostics of problems that an optimization found in a module.
#include "server/features/features.h"

#include <algorithm>

namespace warpwright::server::features {

protocol::Diagnostic problem_diagnostic(const Snapshot &snapshot, const analysis::Kernel &module,
                                        const ModuleProblem &problem, const std::string &docs_url) {
  Range range = module.name_range;
  const LineIndex lines(*snapshot.text);
  // Line numbers refer to the file as written. An applied variant may have shifted them.
  if (problem.line && *problem.line <= lines.line_count() && module.applied_variant.empty()) {
    const std::size_t start = lines.line_start(*problem.line - 1);
    const std::size_t end = std::min(snapshot.text->find('\n', start), snapshot.text->size());
    range = {std::min(start + indentation_at(*snapshot.text, start).size(), end), end};
  }
  protocol::Diagnostic diagnostic;
  diagnostic.range = snapshot.positions.range(range);
  diagnostic.severity =
      static_cast<int>(problem.rule == "torch-missing" ? analysis::Severity::Error
                                                       : analysis::Severity::Warning) +
      1;
  diagnostic.code = problem.rule;
  diagnostic.source = "warpwright";
  diagnostic.message = problem.message;
  diagnostic.code_description = rule_page(docs_url, problem.rule);
  return diagnostic;
}

} // namespace warpwright::server::features
