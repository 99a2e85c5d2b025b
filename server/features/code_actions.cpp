// Actions on the kernel under the cursor.
//
// Actions that apply a variant carry no edits: when the client resolves such an action, the
// variant's moves are repeated on the current text. If that fails, the action is refused.
#include "server/features/features.h"
#include "server/features/quick_fixes.h"

#include "server/measured_text.h"
#include "support/model/json.h"

#include <algorithm>
#include <cctype>

namespace warpwright::server::features {

namespace {

/// Largest number of verified variants offered besides the best one.
constexpr std::size_t kMoreVariants = 2;

/// Whether the client asked for `kind`: it set no filter, or named the kind or a parent of the
/// kind.
bool wants(const protocol::CodeActionParams &params, const std::string &kind) {
  const auto &only = params.context.only;
  return !only || std::any_of(only->begin(), only->end(), [&](const std::string &wanted) {
    return wanted.empty() || kind == wanted || kind.starts_with(wanted + ".");
  });
}

/// Adds an action that asks the user to approve the project's file, if it is not approved.
void add_trust_action(const Context &context, const protocol::CodeActionParams &params,
                      std::vector<protocol::CodeAction> &actions) {
  const consent::ProjectFile &file = context.snapshot.project.file;
  if (!file.is_withheld() || !file.unapprovable.empty() || context.settings.trusted == false)
    return;
  protocol::CodeAction action{"Review and trust " + file.path, protocol::kQuickFixKind};
  std::vector<protocol::Json> answered;
  for (const protocol::Json &diagnostic : params.context.diagnostics)
    if (diagnostic.is_object() && diagnostic.value("code", protocol::Json()) == "configuration")
      answered.push_back(diagnostic);
  if (!answered.empty())
    action.diagnostics = std::move(answered);
  action.command =
      protocol::Command{action.title,
                        protocol::kTrustCommand,
                        {protocol::encode(protocol::TrustParams{context.snapshot.uri})}};
  actions.push_back(std::move(action));
}

/// An action that the client resolves later. For clients that cannot resolve actions, the action
/// runs the command.
protocol::CodeAction lazy_action(const Context &context, const analysis::Kernel &kernel,
                                 const std::string &title, const char *command,
                                 std::optional<std::string> plan,
                                 std::optional<std::string> form = {}) {
  protocol::CodeAction action{title, protocol::kRewriteKind};
  protocol::Command run =
      kernel_command(title, command, context, kernel, std::move(plan), std::move(form));
  if (context.client.lazy_code_action_edits)
    action.data = protocol::Json{{"command", command}, {"reference", run.arguments.front()}};
  else
    action.command = std::move(run);
  return action;
}

void add_command(const Context &context, const analysis::Kernel &kernel, const std::string &title,
                 const char *command, std::optional<std::string> plan,
                 std::vector<protocol::CodeAction> &actions) {
  protocol::CodeAction action{title, protocol::kRewriteKind};
  action.command = kernel_command(title, command, context, kernel, std::move(plan));
  actions.push_back(std::move(action));
}

/// Adds other variants that were measured as faster, with their moves: the user may prefer a
/// variant that is not the fastest.
void add_other_variants(const Context &context, const analysis::Kernel &kernel,
                        const KernelStatus &status, std::vector<protocol::CodeAction> &actions) {
  std::vector<std::string> plans;
  for (const runner::LedgerEntry *entry : status.offered) {
    if (!is_faster(entry->verdict) || entry->task.module || plans.size() > kMoreVariants)
      break; // only the best variant of a module is measured again; other speedups may be noise
    const std::string plan = model::hash(entry->plan);
    if (std::find(plans.begin(), plans.end(), plan) != plans.end())
      continue;
    plans.push_back(plan);
    if (entry != status.best)
      actions.push_back(lazy_action(
          context, kernel, apply_title(*entry) + " (" + moves_text(entry->plan.moves) + ")",
          protocol::kApplyCommand, plan));
  }
}

/// Adds the best variant that cannot be written into the file, as a disabled action with the
/// reason.
void add_not_applicable(const Context &context, const KernelStatus &status,
                        std::vector<protocol::CodeAction> &actions) {
  if (status.not_applicable.empty() || !context.client.disabled_code_actions)
    return;
  const runner::LedgerEntry &entry = *status.not_applicable.front();
  protocol::CodeAction action{apply_title(entry), protocol::kRewriteKind};
  action.disabled = protocol::CodeActionDisabled{entry.proposed.not_applicable +
                                                 "; the kernel's page shows its source"};
  actions.push_back(std::move(action));
}

/// Adds "Keep torch.compile: ..." where PyTorch's own code is faster. It is disabled, because
/// nothing has to be edited.
void add_keep(const Context &context, const KernelStatus &status,
              std::vector<protocol::CodeAction> &actions) {
  if (!status.outrun || !context.client.disabled_code_actions)
    return;
  std::string title = keep_text(status.outrun->verdict);
  title.front() = 'K';
  protocol::CodeAction action{title + " · " + status.outrun->verdict.device.name,
                              protocol::kRewriteKind};
  action.disabled =
      protocol::CodeActionDisabled{"the code stays as it is; hover over the class for all ratios"};
  actions.push_back(std::move(action));
}

void add_kernel_actions(const Context &context, const analysis::Kernel &kernel,
                        std::vector<protocol::CodeAction> &actions) {
  const KernelStatus status = context.status(kernel);
  add_keep(context, status, actions);
  if (status.best) {
    const std::string plan = model::hash(status.best->plan);
    actions.push_back(
        lazy_action(context, kernel, apply_title(*status.best), protocol::kApplyCommand, plan));
    if (context.client.show_document)
      add_command(context, kernel, "Review the changes to " + kernel.name, protocol::kReviewCommand,
                  plan, actions);
  }
  if (status.best && status.best->task.module && status.best->task.module->language == "python")
    actions.push_back(lazy_action(
        context, kernel, apply_title(*status.best) + ", in the forward of " + kernel.name,
        protocol::kApplyCommand, model::hash(status.best->plan), "in-place"));
  add_other_variants(context, kernel, status, actions);
  add_not_applicable(context, status, actions);
  if (!status.entries->empty() && context.client.show_document)
    add_command(context, kernel, "Show measurements and machine code of " + kernel.name,
                protocol::kDetailsCommand, {}, actions);
  if (kernel.task.inferred && !status.job && context.settings.trusted != false) {
    add_command(context, kernel,
                "Optimize " + kernel.name + " (runner " + context.runner_name + ")",
                protocol::kOptimizeCommand, {}, actions);
  }
  if (!kernel.task.inferred && !kernel.task.missing.empty())
    actions.push_back(lazy_action(context, kernel,
                                  "Insert the facts that Warpwright needs above " + kernel.name,
                                  protocol::kInsertFactsCommand, {}));
}

} // namespace

namespace {

std::string verdict_title(const runner::LedgerEntry &entry) {
  const std::string slower = entry.task.module ? slower_text(entry.verdict) : "";
  if (!slower.empty())
    return "Apply variant, " + slower + ": " + module_summary(entry.verdict);
  if (entry.task.module && entry.verdict.device.kind == "cuda")
    return (is_faster(entry.verdict) ? "Apply verified variant: " : "Apply variant: ") +
           module_summary(entry.verdict);
  return is_faster(entry.verdict)
             ? "Apply verified variant: " + speedup_on_device(*entry.verdict.speedup)
             : "Apply checked variant (correct on the CPU backend, speed not measured)";
}

/// Proposer and first sentence of its analysis: "builtin: the kernel is held back by memory
/// traffic". Only the proposer if the analysis is missing or long; empty for the search.
std::string analysis_head(const runner::Proposed &proposed) {
  constexpr std::size_t kMost = 90;
  const std::string &text = proposed.analysis;
  std::string head = text.substr(0, std::min(text.find(". "), text.find('\n')));
  while (head.ends_with('.'))
    head.pop_back();
  if (head.empty() || head.size() > kMost)
    return proposed.by;
  head.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(head.front())));
  return proposed.by + ": " + head;
}

} // namespace

std::string apply_title(const runner::LedgerEntry &entry) {
  const std::string head = analysis_head(entry.proposed);
  return verdict_title(entry) + (head.empty() ? "" : " (" + head + ")");
}

std::vector<protocol::CodeAction> code_actions(const Context &context,
                                               const protocol::CodeActionParams &params) {
  std::vector<protocol::CodeAction> actions;
  if (wants(params, protocol::kQuickFixKind) && context.client.code_action_literals)
    add_quick_fixes(context, params, actions);
  if (params.context.only && wants(params, protocol::kFixAllKind) &&
      context.client.code_action_literals)
    add_fix_all(context, actions);
  if (wants(params, protocol::kQuickFixKind))
    add_trust_action(context, params, actions);
  const Snapshot::Hit hit =
      context.snapshot.hit(context.snapshot.positions.offset(params.range.start));
  if (wants(params, protocol::kRewriteKind) && hit.kernel)
    add_kernel_actions(context, *hit.kernel, actions);
  return actions;
}

} // namespace warpwright::server::features
