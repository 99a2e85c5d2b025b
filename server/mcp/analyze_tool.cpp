// The tool `analyze`: the facts and findings of a file, as `warpwright analyze --json` has them.
#include "server/cli/analyze_json.h"
#include "server/mcp/schemas.h"
#include "server/mcp/workbench.h"

namespace warpwright::mcp {
namespace {

/// Facts without the sources that only programs need: slices, and tasks with their reference plans.
Json brief(const Json &facts) {
  Json kernels = Json::array();
  for (Json kernel : facts.at("kernels")) {
    kernel.erase("slice");
    Json &task = kernel["task"];
    const Json whole = task.value("task", Json());
    task.erase("task");
    if (whole.is_object() && whole.contains("sizes"))
      task["sizes"] = whole["sizes"];
    if (whole.is_object() && whole.contains("tolerance"))
      task["tolerance"] = whole["tolerance"];
    kernels.push_back(std::move(kernel));
  }
  Json result = facts;
  result["kernels"] = std::move(kernels);
  return result;
}

std::string summary_of(const analysis::FileFacts &facts) {
  std::string text = std::to_string(facts.kernels.size()) +
                     (facts.kernels.size() == 1 ? " kernel or module, " : " kernels or modules, ") +
                     std::to_string(facts.diagnostics.size()) + " findings";
  for (const analysis::Kernel &kernel : facts.kernels)
    if (!kernel.task.missing.empty())
      text += ". " + kernel.name + " asks: " + kernel.task.missing.front().question;
  return text;
}

Outcome<ToolResult> run_analyze_tool(Workbench &bench, const ToolCall &call) {
  const cli::Input input = TRY(bench.read(call));
  ToolResult result{brief(cli::to_json(input.facts)), summary_of(input.facts), {}};
  result.structured["path"] = bench.shown(input.file.path);
  Json problems = Json::array();
  for (const Error &problem : input.settings.problems)
    problems.push_back(describe(problem));
  if (const auto notice = consent::withheld_notice(input.settings.project.file))
    problems.push_back(describe(*notice));
  result.structured["problems"] = std::move(problems);
  return result;
}

Json analyze_output() {
  const Json kernel = result_schema({{"name", text_schema()},
                                     {"line", {{"type", "integer"}}},
                                     {"accesses", list_schema({{"type", "object"}})},
                                     {"launches", list_schema({{"type", "object"}})},
                                     {"task", {{"type", "object"}}}},
                                    {"name", "line", "task"});
  const Json finding = result_schema({{"rule", text_schema("Ask explain what it means")},
                                      {"severity", text_schema()},
                                      {"message", text_schema()},
                                      {"line", {{"type", "integer"}}}},
                                     {"rule", "severity", "message", "line"});
  return result_schema({{"path", text_schema()},
                        {"pass", text_schema()},
                        {"kernels", list_schema(kernel)},
                        {"diagnostics", list_schema(finding)},
                        {"problems", list_schema(text_schema(), "Of the project's settings")}},
                       {"path", "kernels", "diagnostics", "problems"});
}

} // namespace

Tool analyze_tool() {
  return {.name = "analyze",
          .title = "Analyze kernels",
          .description =
              "Facts and findings about the CUDA kernels and torch modules of a file: launches, "
              "memory accesses, inferred sizes, questions about what is missing, diagnostics with "
              "fixes. Parses only; runs nothing.",
          .input = arguments_schema({{"file", file_schema()}, {"text", edited_text_schema()}},
                                    {"file"}),
          .output = analyze_output(),
          .is_repeatable = true,
          .run = run_analyze_tool};
}

} // namespace warpwright::mcp
