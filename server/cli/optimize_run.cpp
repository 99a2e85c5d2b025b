#include "server/cli/optimize_run.h"

#include "support/files.h"

#include <algorithm>

namespace warpwright::cli {

std::filesystem::path ledger_path(const OptimizeOptions &options) {
  return options.ledger.empty() ? runner::Ledger::default_path() : std::filesystem::path(options.ledger);
}

Result<void> connect(Run &run) {
  auto chosen = connect_runner(run.runner_url, run.options.device);
  if (!chosen)
    return std::unexpected(chosen.error());
  run.client = std::move(chosen->client);
  run.report.runner = chosen->info.url;
  run.report.notes = chosen->info.notes;
  run.report.device = std::move(chosen->device);
  return {};
}

Result<void> settle_options(Run &run, const std::filesystem::path &first) {
  const config::FileSettings settings = run.reader.settings_of(first);
  print_problems(settings);
  run.runner_url = TRY(server::runner_of(settings.project, run.options.runner));
  run.policy = run.options.policy.empty() ? settings.project.policy : run.options.policy;
  run.learn = run.options.learn && settings.project.learn;
  if (settings.project.budget_ms)
    run.budget = std::chrono::milliseconds(*settings.project.budget_ms);
  if (run.options.budget)
    run.budget = *run.options.budget;
  return {};
}

Result<void> open_ledger(Run &run) {
  auto ledger = runner::Ledger::open(ledger_path(run.options));
  if (ledger)
    run.ledger = std::move(*ledger);
  else if (!run.options.ledger.empty())
    return std::unexpected(ledger.error());
  else
    std::cerr << "warpwright: verdicts are not kept: " << describe(ledger.error()) << '\n';
  return {};
}

SearchSetup setup_of(Run &run) {
  return {.client = *run.client,
          .record = run.ledger ? [&](const runner::LedgerEntry &entry) { return run.ledger->record(entry); }
                               : std::function<Result<void>(const runner::LedgerEntry &)>(),
          .on_progress = [&](const ProgressState &state) { run.progress.show(state); },
          .policies = run.policies,
          .settings = {.device = run.options.device,
                       .budget = run.budget,
                       .max_variants = run.options.max_variants,
                       .policy = run.policy,
                       .learn = run.learn},
          .measures = on_gpu(run.report),
          .stop = run.interrupt.token(),
          .form = {run.options.in_place, run.options.standalone},
          .mode = run.options.mode};
}

Result<FileOutcome> optimize_in_file(Run &run, const std::filesystem::path &path, const std::string &qualified_name,
                                     const std::string &shown_path) {
  const Result<Input> input = run.reader.read(path);
  if (!input)
    return std::unexpected(input.error());
  const auto kernel = std::ranges::find(input->facts.kernels, qualified_name, &analysis::Kernel::qualified_name);
  if (kernel == input->facts.kernels.end())
    return fail("the kernel " + qualified_name + " is no longer in " + path.string(), "Run this again");
  const auto snapshot = std::make_shared<const server::Snapshot>(
      "", 0, std::make_shared<const std::string>(input->file.text), server::AnalysisResult{input->facts, {}},
      server::protocol::PositionEncoding::Utf8);
  return FileOutcome{input->file.text, optimize_kernel(snapshot, kernel->name, shown_path, setup_of(run))};
}

void warn_of_ledger(Run &run, const std::optional<Error> &failure) {
  if (failure && !run.warned_of_ledger) {
    run.warned_of_ledger = true;
    print_error(*failure);
  }
}

void add_failure(Run &run, Error error) {
  print_error(error);
  run.report.failures.push_back(std::move(error));
}

int finish(Run &run, int code) {
  if (run.options.json)
    std::cout << render_json(run.report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  if (!run.options.html.empty()) {
    if (const Result<void> written = write_atomically(run.options.html, render_html(run.report)); !written) {
      print_error(written.error());
      return kFailed;
    }
    std::cerr << "Report: " << run.options.html << '\n';
  }
  return code;
}

int fail_before_start(Run &run, Error error, int code) {
  add_failure(run, std::move(error));
  return run.options.json ? finish(run, code) : code;
}

} // namespace warpwright::cli
