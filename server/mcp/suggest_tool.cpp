// The tool `suggest`: the moves that are legal for a kernel and why each may help, and why the others
// are not legal.
#include "generator/text/states/move_offers.h"
#include "server/mcp/schemas.h"
#include "server/mcp/workbench.h"

namespace warpwright::mcp {
namespace {

/// Findings of the rule in the kernel.
Json findings_for(const analysis::FileFacts &facts, const analysis::Kernel &kernel,
                  std::string_view rule) {
  Json findings = Json::array();
  for (const analysis::Diagnostic &diagnostic : facts.diagnostics)
    if (!rule.empty() && diagnostic.rule == rule && kernel.range.contains(diagnostic.range.begin))
      findings.push_back({{"rule", diagnostic.rule},
                          {"line", diagnostic.line},
                          {"message", diagnostic.message}});
  return findings;
}

/// Verdicts on the code as it is with this move alone.
Json measured_of(const server::KernelStatus &status, const states::MoveOffer &offer) {
  Json measured = Json::array();
  for (const runner::LedgerEntry *entry : status.current)
    if (entry->plan.moves.size() == 1 &&
        entry->plan.moves.front().starts_with(std::string(offer.kind->name) + "("))
      measured.push_back(verdict_json(*entry));
  return measured;
}

Outcome<ToolResult> run_suggest_tool(Workbench &bench, const ToolCall &call) {
  const cli::Input input = TRY(bench.read(call));
  const analysis::Kernel *kernel = TRY(cuda_kernel_of(input, call.text("kernel"), "suggest"));
  const source::State state = states::state_of_file(input.file, input.settings.parse, kernel->name, kernel->task.task,
                                                    arch::gpu_or_cpu(std::nullopt));
  const auto offers = TRY(states::move_offers(state));
  const server::KernelStatus status = bench.status_of(*snapshot_of(input), *kernel);
  Json moves = Json::array(), refused = Json::array();
  for (const states::MoveOffer &offer : offers) {
    const std::string name(offer.kind->name);
    if (offer.choices.empty()) {
      refused.push_back({{"move", name},
                         {"why", offer.refused.empty() ? "it would change nothing" : offer.refused}});
      continue;
    }
    moves.push_back({{"move", name},
                     {"effect", std::string(offer.kind->effect)},
                     {"choices", source::to_strings(offer.choices)},
                     {"findings", findings_for(input.facts, *kernel, offer.kind->rule)},
                     {"measured", measured_of(status, offer)}});
  }
  const std::string summary = std::to_string(moves.size()) + " moves are possible for " +
                              kernel->name +
                              ". Nothing was run: optimize tries and measures them, verify judges "
                              "your own edit";
  return ToolResult{{{"kernel", kernel->name}, {"moves", moves}, {"refused", refused}}, summary, {}};
}

Json suggestion_output() {
  const Json finding = result_schema(
      {{"rule", text_schema()}, {"line", {{"type", "integer"}}}, {"message", text_schema()}},
      {"rule", "line", "message"});
  const Json move = result_schema(
      {{"move", text_schema()},
       {"effect", text_schema("How it changes the kernel")},
       {"choices", list_schema(text_schema(), "Its legal parameters")},
       {"findings", list_schema(finding, "Of analyze, which the move may remove")},
       {"measured", list_schema(brief_verdict_schema(), "Earlier verdicts on this move alone")}},
      {"move", "effect", "choices", "findings", "measured"});
  const Json refused =
      result_schema({{"move", text_schema()}, {"why", text_schema()}}, {"move", "why"});
  return result_schema({{"kernel", text_schema()},
                        {"moves", list_schema(move, "In the order in which a search tries them")},
                        {"refused", list_schema(refused)}},
                       {"kernel", "moves", "refused"});
}

} // namespace

Tool suggest_tool() {
  return {
      .name = "suggest",
      .title = "Suggest moves",
      .description = "The edits (moves) that Warpwright can make of a CUDA kernel, why each "
                     "may help, and why the others are not legal. Runs nothing: a suggestion is "
                     "not a measurement.",
      .input = arguments_schema(
          {{"file", file_schema()}, {"kernel", kernel_schema()}, {"text", edited_text_schema()}},
          {"file", "kernel"}),
      .output = suggestion_output(),
      .is_repeatable = true,
      .run = run_suggest_tool};
}

} // namespace warpwright::mcp
