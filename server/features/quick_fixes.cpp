#include "server/features/quick_fixes.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace warpwright::server::features {

namespace {

/// Rules whose first fix is repaired without a look: the results stay, or were undefined before.
constexpr std::array<std::string_view, 5> kSafeRules{"bank-conflict", "divergent-barrier", "missing-bounds-check",
                                "missing-const", "shared-memory-race"};

/// The client's diagnostics that come from this finding: same code, same range.
std::vector<protocol::Json> matching(const protocol::CodeActionParams &params,
                                     const protocol::Json &range, const std::string &rule) {
  std::vector<protocol::Json> result;
  for (const protocol::Json &diagnostic : params.context.diagnostics)
    if (diagnostic.is_object() && diagnostic.value("source", "") == "warpwright" &&
        diagnostic.value("code", protocol::Json()) == rule &&
        diagnostic.value("range", protocol::Json()) == range)
      result.push_back(diagnostic);
  return result;
}

bool is_safe(const std::string &rule) {
  return std::ranges::find(kSafeRules, rule) != kSafeRules.end();
}

bool fits(const std::vector<TextEdit> &more, const std::vector<TextEdit> &edits) {
  return std::ranges::none_of(more, [&](const TextEdit &one) {
    return std::ranges::any_of(edits, [&](const TextEdit &known) {
      return one.range.overlaps(known.range) || one.range == known.range;
    });
  });
}

} // namespace

void add_quick_fixes(const Context &context, const protocol::CodeActionParams &params,
                     std::vector<protocol::CodeAction> &actions) {
  const Range asked = context.snapshot.positions.bytes(params.range);
  for (const analysis::Diagnostic *found : shown_findings(context)) {
    if (found->range.end < asked.begin || asked.end < found->range.begin)
      continue;
    const protocol::Json shown = protocol::encode(diagnostic(context, *found));
    auto answered = matching(params, shown.at("range"), found->rule);
    if (answered.empty())
      answered.push_back(shown);
    bool is_first = true;
    for (const analysis::QuickFix &fix : found->fixes) {
      protocol::CodeAction action{fix.title, protocol::kQuickFixKind};
      action.diagnostics = answered;
      action.is_preferred = std::exchange(is_first, false);
      action.edit = workspace_edit(context, fix.edits);
      actions.push_back(std::move(action));
    }
  }
}

void add_fix_all(const Context &context, std::vector<protocol::CodeAction> &actions) {
  std::vector<TextEdit> edits;
  for (const analysis::Diagnostic *found : shown_findings(context))
    if (!found->fixes.empty() && is_safe(found->rule) &&
        fits(found->fixes.front().edits, edits))
      edits.insert(edits.end(), found->fixes.front().edits.begin(),
                   found->fixes.front().edits.end());
  if (edits.empty())
    return;
  protocol::CodeAction action{"Fix all findings that Warpwright can fix safely",
                              protocol::kFixAllKind};
  action.edit = workspace_edit(context, edits);
  actions.push_back(std::move(action));
}

} // namespace warpwright::server::features
