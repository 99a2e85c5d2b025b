// Conversion of the facts' findings to diagnostics of the protocol.
#include "server/features/features.h"

#include <algorithm>

namespace warpwright::server::features {

namespace {

constexpr std::size_t kMostLaunches = 4;

/// The kernel in which the finding is about an access; null: it is about something else.
const analysis::Kernel *accessing_kernel(const analysis::FileFacts &facts,
                                         const analysis::Diagnostic &finding) {
  for (const analysis::Kernel &kernel : facts.kernels)
    for (const analysis::Access &access : kernel.accesses)
      if (access.range.overlaps(finding.range))
        return &kernel;
  return nullptr;
}

/// The launches of the kernel: their blocks decide which threads make an access together.
std::vector<protocol::RelatedInformation> launches_of(const Snapshot &snapshot,
                                                      const analysis::Kernel &kernel) {
  std::vector<protocol::RelatedInformation> related;
  for (const analysis::Launch &launch : snapshot.facts.launches)
    if (launch.kernel == kernel.name && related.size() < kMostLaunches)
      related.push_back({{snapshot.uri, snapshot.positions.range(launch.range)},
                         "launched here" + (launch.block.empty() ? "" : " with blocks of " + launch.block)});
  return related;
}

} // namespace

std::optional<protocol::CodeDescription> rule_page(const std::string &docs_url,
                                                   const std::string &rule) {
  if (docs_url.empty())
    return std::nullopt;
  return protocol::CodeDescription{docs_url + "/" + rule + ".md"};
}

std::vector<const analysis::Diagnostic *> shown_findings(const Context &context) {
  std::vector<const analysis::Diagnostic *> shown;
  for (const analysis::Diagnostic &finding : context.snapshot.facts.diagnostics)
    if (!context.settings.disabled_rules.contains(finding.rule) &&
        (finding.rule != "syntax" || context.settings.syntax_diagnostics))
      shown.push_back(&finding);
  return shown;
}

protocol::Diagnostic diagnostic(const Context &context, const analysis::Diagnostic &finding) {
  const Snapshot &snapshot = context.snapshot;
  protocol::Diagnostic result;
  result.range = snapshot.positions.range(finding.range);
  result.severity = static_cast<int>(finding.severity) + 1; // both count from the worst
  result.code = finding.rule;
  result.code_description = rule_page(context.docs_url, finding.rule);
  result.source = "warpwright";
  result.message = finding.message;
  const analysis::Kernel *kernel = accessing_kernel(snapshot.facts, finding);
  if (kernel && context.client.related_information)
    if (auto launches = launches_of(snapshot, *kernel); !launches.empty())
      result.related = std::move(launches);
  return result;
}

std::vector<protocol::Diagnostic> diagnostics(const Context &context) {
  std::vector<protocol::Diagnostic> result;
  for (const analysis::Diagnostic *finding : shown_findings(context))
    result.push_back(diagnostic(context, *finding));
  return result;
}

} // namespace warpwright::server::features
