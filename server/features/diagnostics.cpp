// Conversion of the facts' diagnostics to diagnostics of the protocol.
#include "server/features/features.h"

namespace warpwright::server::features {

std::vector<protocol::Diagnostic> diagnostics(const Context &context) {
  std::vector<protocol::Diagnostic> result;
  for (const analysis::Diagnostic &found : context.snapshot.facts.diagnostics) {
    if (context.settings.disabled_rules.contains(found.rule))
      continue;
    protocol::Diagnostic diagnostic;
    diagnostic.range = context.snapshot.positions.range(found.range);
    diagnostic.severity = static_cast<int>(found.severity) + 1; // both count from the worst
    diagnostic.code = found.rule;
    diagnostic.source = "warpwright";
    diagnostic.message = found.message;
    if (!context.docs_url.empty())
      diagnostic.code_description = protocol::CodeDescription{context.docs_url + "#" + found.rule};
    result.push_back(std::move(diagnostic));
  }
  return result;
}

} // namespace warpwright::server::features
