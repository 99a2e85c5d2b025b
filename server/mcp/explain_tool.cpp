// The tools `explain`, in words, and `diff`, the edit that leads to a verified variant.
#include "server/docs_page.h"
#include "server/features/features.h"
#include "server/mcp/schemas.h"
#include "server/mcp/workbench.h"
#include "server/measured_text.h"
#include "server/optimize/kernel_report.h"
#include "server/optimize/optimize_module.h"
#include "support/files.h"
#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::mcp {
namespace {

using model::Verdict;

/// The page of a rule, docs/rules/NAME.md.
Outcome<ToolResult> explain_rule(const std::string &rule) {
  const bool is_name = !rule.empty() && rule.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
  const std::string page = is_name ? server::find_docs_page("rules/" + rule + ".md") : "";
  if (page.empty())
    return fail("there is no page of the rule " + rule, "Name a rule that analyze reported; see docs/use/rules.md");
  return ToolResult{{{"about", rule}, {"text", TRY(read_file(page))}}, "what the rule " + rule + " means", {}};
}

std::string rate_line(const char *side, const std::optional<model::Evidence> &evidence) {
  if (!evidence)
    return {};
  std::string text = std::string("- ") + side + ": bound by " + std::string(model::name(evidence->bound));
  if (evidence->memory_share)
    text += printed(", %.0f%% of the bandwidth", 100 * *evidence->memory_share);
  if (evidence->compute_share)
    text += printed(", %.0f%% of the arithmetic rate", 100 * *evidence->compute_share);
  return text + "\n";
}

std::string verdict_text(const runner::LedgerEntry &entry) {
  const Verdict &verdict = entry.verdict;
  std::string text = "**" + entry.kernel + "**: " + claim_text(verdict) + "\n\n" +
                     rate_line("before", verdict.reference_evidence) +
                     rate_line("after", verdict.candidate_evidence);
  for (const model::Check &check : verdict.checks)
    text += "- " + check.name + ": " + (check.passed ? "passed" : "failed") +
            (check.detail.empty() ? "" : " (" + check.detail + ")") + "\n";
  for (const model::CompileReport &report : verdict.kernels)
    if (!report.log.empty())
      text += "\nThe compiler on " + report.kernel + ":\n```\n" + report.log + "\n```\n";
  if (entry.task.module)
    text += "\n" + server::baseline_table(verdict);
  return text;
}

/// What an editor's hover shows on the kernel's name.
Outcome<ToolResult> explain_kernel(Workbench &bench, const ToolCall &call) {
  const cli::Input input = TRY(bench.read(call));
  const std::string name = TRY(kernel_of(input, call.text("kernel")))->name;
  const auto snapshot = snapshot_of(input);
  const server::Settings settings;
  server::protocol::ClientCapabilities client;
  client.hover_markdown = true;
  const server::features::Context context{
      *snapshot,
      [&](const analysis::Kernel &kernel) { return bench.status_of(*snapshot, kernel); },
      settings,
      client,
      {},
      {}};
  const auto hover = server::features::hover(
      context, snapshot->positions.position(snapshot->find_kernel(name)->name_range.begin));
  if (!hover)
    return fail("there is no information about " + name, "Ask analyze");
  return ToolResult{{{"about", name}, {"text", hover->contents.value}}, "facts about " + name, {}};
}

Outcome<EntryPtr> named_entry(Workbench &bench, const ToolCall &call) {
  return TRY(bench.verdicts.find(call.text("verdict")));
}

Outcome<ToolResult> run_explain_tool(Workbench &bench, const ToolCall &call) {
  const bool about_kernel = call.has("file") || call.has("kernel");
  if (call.has("rule") + call.has("verdict") + about_kernel != 1)
    return fail("explain takes a rule, a verdict, or a file and a kernel", "Pass one of them");
  if (call.has("rule"))
    return explain_rule(call.text("rule"));
  if (about_kernel)
    return explain_kernel(bench, call);
  const EntryPtr entry = TRY(named_entry(bench, call));
  return ToolResult{{{"about", entry->kernel}, {"text", verdict_text(*entry)}},
                    claim_text(entry->verdict),
                    {verdict_link(*entry)}};
}

/// The best variant of the kernel as it is now, from the ledger.
Outcome<EntryPtr> best_entry(Workbench &bench, const ToolCall &call) {
  const cli::Input input = TRY(bench.read(call));
  const std::string name = TRY(kernel_of(input, call.text("kernel")))->name;
  const auto snapshot = snapshot_of(input);
  const server::KernelStatus status = bench.status_of(*snapshot, *snapshot->find_kernel(name));
  if (!status.best)
    return fail("there is no verified variant of " + name + " as it is now",
                "Call optimize, or verify your own edit");
  return TRY(bench.verdicts.find(verdict_id(status.best->verdict)));
}

Outcome<ToolResult> run_diff_tool(Workbench &bench, const ToolCall &call) {
  if (call.has("verdict") == (call.has("file") || call.has("kernel")))
    return fail("diff takes a verdict, or a file and a kernel", "Pass one of both");
  const EntryPtr entry = TRY(call.has("verdict") ? named_entry(bench, call) : best_entry(bench, call));
  if (entry->verdict.outcome != model::Outcome::Verified)
    return fail("the variant is not verified: " + claim_text(entry->verdict),
                "Only verified variants have a diff");
  if (!entry->proposed.not_applicable.empty())
    return fail("the variant cannot be written into the file: " + entry->proposed.not_applicable,
                "Its source is in warpwright://source/" + verdict_id(entry->verdict));
  const cli::Input input = TRY(cli::InputReader().read(TRY(bench.path_of(entry->file))));
  cli::KernelReport report;
  report.file = bench.shown(input.file.path);
  const server::VariantTexts texts =
      TRY(server::add_diff(*snapshot_of(input), *entry, server::VariantForm{}, report));
  ToolResult result{verdict_json(*entry), claim_text(entry->verdict), {verdict_link(*entry)}};
  result.structured["diff"] = report.diff;
  result.structured["text"] = texts.text;
  result.structured["includer"] =
      texts.includer ? Json{{"file", bench.shown(texts.includer->path)}, {"text", texts.includer->after}} : Json();
  const auto plan_file = server::plan_file_of(*entry, server::VariantForm{});
  result.structured["plan_file"] =
      plan_file ? Json{{"name", plan_file->name}, {"text", plan_file->text}} : Json();
  return result;
}

Json which_schema() {
  return {{"file", file_schema()}, {"kernel", kernel_schema()}, {"verdict", verdict_id_schema()}};
}

} // namespace

Tool explain_tool() {
  Json which = which_schema();
  which["rule"] = text_schema("Name of a rule, as analyze reports it");
  return {.name = "explain",
          .title = "Explain a kernel, a verdict or a rule",
          .description = "What is known of a kernel (as the editor's hover shows it), why a verdict "
                         "is as it is, or what a rule of analyze means. Runs nothing.",
          .input = arguments_schema(std::move(which), {}),
          .output = result_schema({{"about", text_schema()}, {"text", text_schema("Markdown")}},
                                  {"about", "text"}),
          .is_repeatable = true,
          .run = run_explain_tool};
}

Tool diff_tool() {
  Json properties = verdict_properties();
  properties["diff"] = text_schema("Unified diff");
  properties["text"] = text_schema("The whole file with the variant");
  properties["plan_file"] =
      nullable(result_schema({{"name", text_schema()}, {"text", text_schema()}}, {"name", "text"}));
  properties["includer"] =
      nullable(result_schema({{"file", text_schema("The file that includes it and launches the kernel, if that changes")},
                              {"text", text_schema("The whole file with the variant's launch")}},
                             {"file", "text"}));
  std::vector<std::string> required = verdict_required();
  required.insert(required.end(), {"diff", "text", "plan_file", "includer"});
  return {.name = "diff",
          .title = "Diff of a verified variant",
          .description = "The difference between the file as it is now and a verified variant: of a "
                         "verdict, or the best one of a kernel in the ledger. Refuses a variant to "
                         "which the code no longer leads. Changes no file.",
          .input = arguments_schema(which_schema(), {}),
          .output = result_schema(std::move(properties), std::move(required)),
          .is_repeatable = true,
          .run = run_diff_tool};
}

} // namespace warpwright::mcp
