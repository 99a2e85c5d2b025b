// The tools `optimize`, which begins a search and waits for it, and `job`, which goes on waiting.
#include "server/mcp/schemas.h"
#include "server/mcp/workbench.h"

#include <cmath>

namespace warpwright::mcp {
namespace {

/// Longest wait of one call. Clients give up after a minute.
constexpr int kLongestWaitSeconds = 45;
constexpr int kMaxVariants = 1000, kDefaultVariants = 64, kLongestBudgetSeconds = 600;

const char *state_name(SearchState state) {
  switch (state) {
  case SearchState::Running:
    return "running";
  case SearchState::Done:
    return "done";
  case SearchState::Failed:
    return "failed";
  case SearchState::Cancelled:
    break;
  }
  return "cancelled";
}

/// Adds what a search or its obstacle found.
void add_report(const cli::KernelReport &report, const Workbench &bench, ToolResult &result) {
  Json missing = Json::array(), variants = Json::array();
  for (const auto &[name, question] : report.missing)
    missing.push_back({{"name", name}, {"question", question}});
  std::size_t unjudged = 0;
  for (std::size_t index = 0; index < report.variants.size(); ++index) {
    const auto entry = bench.verdicts.find(verdict_id(report.variants[index].verdict));
    if (!entry) {
      ++unjudged;
      continue;
    }
    const Json verdict = verdict_json(**entry);
    variants.push_back({{"verdict", verdict["verdict"]},
                        {"outcome", verdict["outcome"]},
                        {"summary", verdict["summary"]},
                        {"moves", verdict["moves"]}});
    if (report.best == index) {
      result.structured["best"] = verdict;
      result.links.push_back(verdict_link(**entry));
    }
  }
  result.structured.update({{"missing", missing},
                            {"comment", report.comment},
                            {"variants", variants},
                            {"unjudged", unjudged},
                            {"diff", report.diff},
                            {"seconds", report.seconds},
                            {"policy", report.policy},
                            {"analysis", report.analysis}});
}

std::string summary_of(const Json &job, SearchState state) {
  if (state == SearchState::Running)
    return "still searching; call job with " + job["job"].get<std::string>();
  if (job.contains("error") && job["error"] != "")
    return "the search failed: " + job["error"].get<std::string>();
  if (job["best"].is_null())
    return "there is no variant to apply: leave the code as it is";
  return "best variant: " + job["best"]["summary"].get<std::string>();
}

ToolResult result_of(const SearchJob &job, const Workbench &bench) {
  const SearchJob::View view = job.view();
  ToolResult result;
  result.structured = {{"job", job.id()},
                       {"state", state_name(view.state)},
                       {"tried", view.progress.tried},
                       {"verified", view.progress.verified},
                       {"doing", view.state == SearchState::Running ? view.progress.doing : ""},
                       {"error", view.error ? describe(*view.error) : ""},
                       {"best", nullptr}};
  if (view.outcome)
    add_report(view.outcome->report, bench, result);
  result.summary = summary_of(result.structured, view.state);
  return result;
}

/// Waits for the search and reports it. @param owns whether the end of the call ends the search
ToolResult awaited(SearchJob &job, const Workbench &bench, const ToolCall &call, bool owns) {
  const std::chrono::seconds time(call.arguments.value("wait_s", kLongestWaitSeconds));
  job.wait(time, call.stop, [&](const cli::ProgressState &progress) {
    call.on_progress(100 * cli::share(progress), 100, cli::progress_line(progress, 200));
  });
  if (owns && call.stop.stop_requested())
    job.cancel();
  return result_of(job, bench);
}

server::Settings settings_of(const Workbench &bench, const cli::Input &input,
                             const ToolCall &call) {
  const config::ProjectConfig &project = input.settings.project;
  server::Settings settings{.device = bench.options().device,
                            .max_variants = call.arguments.value("max_variants", kDefaultVariants),
                            .policy = bench.options().policy.empty() ? project.policy
                                                                     : bench.options().policy};
  if (project.budget_ms)
    settings.budget = std::chrono::milliseconds(*project.budget_ms);
  if (call.has("budget_s"))
    settings.budget = std::chrono::seconds(call.arguments["budget_s"].get<int>());
  return settings;
}

/// The search on its thread. `bench` outlives it.
Result<cli::KernelOutcome> search(Workbench &bench, const cli::Input &input,
                                  const std::string &kernel, const server::Settings &settings,
                                  server::Policies &policies, std::stop_token stop,
                                  const std::function<void(const cli::ProgressState &)> &show) {
  const ClientPtr client = TRY(bench.runner_for(input.settings.project));
  const auto device = bench.device_of(*client);
  if (!device) {
    bench.forget(client);
    return std::unexpected(device.error());
  }
  cli::KernelOutcome outcome = cli::optimize_kernel(
      snapshot_of(input), kernel, bench.shown(input.file.path),
      {.client = *client,
       .record = [&](const runner::LedgerEntry &entry) { return bench.record(entry); },
       .on_progress = show,
       .policies = policies,
       .settings = settings,
       .measures = device->kind == "cuda",
       .stop = stop,
       .form = {},
       .mode = {}});
  if (outcome.report.error && !stop.stop_requested())
    bench.forget(client); // the next search connects again
  return outcome;
}

Outcome<ToolResult> run_optimize_tool(Workbench &bench, const ToolCall &call) {
  cli::Input input = TRY(bench.read(call));
  std::string name = TRY(kernel_of(input, call.text("kernel")))->name;
  const auto snapshot = snapshot_of(input);
  if (const auto obstacle = cli::report_of_obstacle(*snapshot, *snapshot->find_kernel(name),
                                                    bench.shown(input.file.path))) {
    ToolResult result;
    result.structured = {{"job", ""},
                         {"state", "failed"},
                         {"error", obstacle->error ? describe(*obstacle->error) : "not possible"},
                         {"best", nullptr}};
    add_report(*obstacle, bench, result);
    result.summary = summary_of(result.structured, SearchState::Failed);
    return result;
  }
  TRY(bench.require_approval(call, input));
  const server::Settings settings = settings_of(bench, input, call);
  const SearchJobPtr job = bench.searches.start(
      [&bench, input = std::move(input), name = std::move(name),
       settings](server::Policies &policies, std::stop_token stop, const auto &show) {
        return search(bench, input, name, settings, policies, std::move(stop), show);
      });
  return awaited(*job, bench, call, true);
}

Outcome<ToolResult> run_job_tool(Workbench &bench, const ToolCall &call) {
  const SearchJobPtr job = TRY(bench.searches.find(call.text("job")));
  if (call.arguments.value("cancel", false))
    job->cancel();
  return awaited(*job, bench, call, false);
}

Json optimize_output() {
  const Json missing =
      result_schema({{"name", text_schema()}, {"question", text_schema()}}, {"name", "question"});
  return result_schema(
      {{"job", text_schema()},
       {"state", {{"enum", {"running", "done", "failed", "cancelled"}}}},
       {"tried", {{"type", "integer"}}},
       {"verified", {{"type", "integer"}}},
       {"doing", text_schema()},
       {"error", text_schema("Why it failed, and what to do; else empty")},
       {"missing", list_schema(missing, "Facts that the user must give")},
       {"comment", text_schema("Comment for above the kernel that asks for the missing facts")},
       {"best", nullable(result_schema(verdict_properties(), verdict_required()))},
       {"diff", text_schema("Unified diff of the best variant")},
       {"variants", list_schema(brief_verdict_schema())},
       {"unjudged", {{"type", "integer"}, {"description", "Variants without a verdict"}}},
       {"seconds", number_schema()},
       {"policy", text_schema("The proposer of the variants")},
       {"analysis", text_schema("The policy's text on the kernel")}},
      {"job", "state", "best"});
}

Json wait_schema() {
  return integer_schema(0, kLongestWaitSeconds, "Seconds until this answers; default 45");
}

} // namespace

Tool optimize_tool() {
  return {.name = "optimize",
          .title = "Search for faster versions",
          .description =
              "Searches for faster versions of a kernel or torch module, and verifies and measures "
              "each. Answers within 45 s: while the state is running, call job. Changes no file: "
              "apply the diff yourself, or take the text from diff.",
          .input = arguments_schema(
              {{"file", file_schema()},
               {"kernel", kernel_schema()},
               {"budget_s", integer_schema(1, kLongestBudgetSeconds,
                                           "Seconds of the search; default: the project's, else 30")},
               {"max_variants", integer_schema(1, kMaxVariants, "Default 64")},
               {"wait_s", wait_schema()}},
              {"file", "kernel"}),
          .output = optimize_output(),
          .run = run_optimize_tool};
}

Tool job_tool() {
  return {.name = "job",
          .title = "Continue a search",
          .description = "Waits for a search that optimize began, and reports it. With cancel, ends "
                         "it; the variants found so far remain.",
          .input = arguments_schema({{"job", text_schema("As optimize returned it")},
                                     {"wait_s", wait_schema()},
                                     {"cancel", {{"type", "boolean"}}}},
                                    {"job"}),
          .output = optimize_output(),
          .run = run_job_tool};
}

} // namespace warpwright::mcp
