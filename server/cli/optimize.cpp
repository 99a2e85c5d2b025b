// `warpwright optimize`: searches for faster versions of every kernel in the given files, and
// reports the results as text, JSON and HTML.
//
// Wrong arguments are reported before any search. The kernels of a file are optimized one after the
// other, each in the current content of the file, so that edits of --apply compose.
#include "server/cli/commands.h"

#include "analysis/guard/guard.h"
#include "analysis/python/module_facts.h"
#include "runner/connect/choose_device.h"
#include "server/optimize/policies.h"
#include "server/cli/files.h"
#include "server/interrupt.h"
#include "server/cli/kernel_search.h"
#include "server/cli/sources.h"
#include "server/cli/terminal.h"
#include "support/words.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>

namespace warpwright::cli {
namespace {

/// State of one run: options, connections and the report.
struct Run {
  const OptimizeOptions &options;
  Report report;
  std::unique_ptr<runner::BlockingClient> client;
  std::unique_ptr<runner::Ledger> ledger;
  Terminal terminal = terminal_of(STDOUT_FILENO);
  Progress progress;
  server::Interrupt &interrupt;
  InputReader reader;
  std::string runner_url;
  std::chrono::milliseconds budget = kDefaultBudget;
  server::Policies policies;
  std::string policy;
  bool warned_of_ledger = false;

  Run(const OptimizeOptions &options, server::Interrupt &interrupt)
      : options(options), progress(std::cerr, terminal_of(STDERR_FILENO).interactive,
                                   terminal_of(STDERR_FILENO).width),
        interrupt(interrupt) {}
};

void print_error(const Error &error) { std::cerr << "warpwright: " << describe(error) << '\n'; }

Result<void> connect(Run &run) {
  auto client = runner::BlockingClient::connect(run.runner_url);
  if (!client)
    return std::unexpected(client.error());
  const Result<runner::RunnerInfo> info = (*client)->info();
  if (!info)
    return std::unexpected(info.error());
  run.client = std::move(*client);
  run.report.runner = info->url;
  run.report.notes = info->notes;
  auto device = runner::choose_device(*info, run.options.device);
  if (!device)
    return std::unexpected(device.error());
  run.report.device = std::move(*device);
  return {};
}

/// Takes options that the command line leaves open from the project of the first file. Errors: the
/// approved project names a runner that cannot be used.
Result<void> settle_options(Run &run, const std::filesystem::path &first) {
  const config::FileSettings settings = run.reader.settings_of(first);
  for (const Error &problem : settings.problems)
    print_error(problem);
  if (const auto notice = consent::withheld_notice(settings.project.file))
    print_error(*notice);
  if (run.options.runner.empty() && settings.project.runner_error)
    return std::unexpected(*settings.project.runner_error);
  run.runner_url = run.options.runner.empty() ? settings.project.runner_url : run.options.runner;
  if (run.runner_url.empty())
    run.runner_url = runner::local_url(settings.project.python);
  run.policy = run.options.policy.empty() ? settings.project.policy : run.options.policy;
  if (settings.project.budget_ms)
    run.budget = std::chrono::milliseconds(*settings.project.budget_ms);
  if (run.options.budget)
    run.budget = *run.options.budget;
  return {};
}

/// Opens the ledger. Errors: the ledger named by --ledger does not open. If the default ledger does
/// not open, the run continues without one.
Result<void> open_ledger(Run &run) {
  const std::filesystem::path path = run.options.ledger.empty()
                                         ? runner::Ledger::default_path()
                                         : std::filesystem::path(run.options.ledger);
  auto ledger = runner::Ledger::open(path);
  if (ledger)
    run.ledger = std::move(*ledger);
  else if (!run.options.ledger.empty())
    return std::unexpected(ledger.error());
  else
    std::cerr << "warpwright: verdicts are not kept: " << describe(ledger.error()) << '\n';
  return {};
}

ApplyResult apply(const Run &run, const std::filesystem::path &path, const std::string &before,
                  const KernelOutcome &outcome) {
  const bool measured = on_gpu(run.report);
  if (!outcome.report.best)
    return {ApplyResult::State::NothingToApply,
            "Nothing to apply: no variant of " + outcome.report.name +
                (measured ? " is faster with confidence." : " was verified.")};
  if (!measured && run.options.apply != ApplyMode::Checked)
    return {
        ApplyResult::State::Refused,
        "Not applied: " + outcome.report.name +
            " was checked on the CPU only, which says nothing about its "
            "speed. Run on a GPU, or say --apply=checked to take the verified variant as it is."};
  const std::string target = run.options.output.empty() ? path.string() : run.options.output;
  Result<void> written;
  if (outcome.plan_file)
    written = write_atomically(std::filesystem::path(target).parent_path() / outcome.plan_file->name,
                               outcome.plan_file->text);
  if (written)
    written = run.options.output.empty() ? replace_unchanged(path, before, outcome.best_text)
                                         : write_atomically(target, outcome.best_text);
  if (!written)
    return {ApplyResult::State::Refused, "Not applied: " + describe(written.error()) + "."};
  const std::string beside = outcome.plan_file ? " Its plan is " + outcome.plan_file->name + ", beside it." : "";
  return {ApplyResult::State::Applied,
          "Applied to " + target + ": " +
              moves_text(outcome.report.variants[*outcome.report.best].moves) + "." + beside +
              (outcome.plan_file && run.options.standalone ? " It cannot stand alone: the comment says why." : "")};
}

void finish_kernel(Run &run, KernelOutcome outcome) {
  if (outcome.ledger_failure && !run.warned_of_ledger) {
    run.warned_of_ledger = true;
    print_error(*outcome.ledger_failure);
  }
  if (!run.options.json) {
    TableOptions table{.color = run.terminal.color, .width = run.terminal.width};
    std::cout << render_text(outcome.report, run.report, table) << std::flush;
  }
  run.report.kernels.push_back(std::move(outcome.report));
}

SearchSetup setup_of(Run &run) {
  return {.client = *run.client,
          .ledger = run.ledger.get(),
          .progress = run.progress,
          .policies = run.policies,
          .settings = {.device = run.options.device,
                       .budget = run.budget,
                       .max_variants = run.options.max_variants,
                       .policy = run.policy},
          .measures = on_gpu(run.report),
          .stop = run.interrupt.token(),
          .form = {run.options.in_place, run.options.standalone},
          .mode = run.options.mode};
}

bool is_wanted(const analysis::Kernel &kernel, const std::string &name) {
  return name.empty() || kernel.name == name || kernel.qualified_name == name;
}

/// Optimizes one kernel or torch module in the current content of the file.
Result<void> optimize_one(Run &run, const std::filesystem::path &path,
                          const std::string &qualified_name) {
  const Result<Input> input = run.reader.read(path);
  if (!input)
    return std::unexpected(input.error());
  const auto kernel = std::ranges::find(input->facts.kernels, qualified_name,
                                        &analysis::Kernel::qualified_name);
  if (kernel == input->facts.kernels.end())
    return fail("the kernel " + qualified_name + " is no longer in " + path.string(),
                "Run this again");
  const auto snapshot = std::make_shared<const server::Snapshot>(
      "", 0, std::make_shared<const std::string>(input->file.text),
      server::AnalysisResult{input->facts, {}}, server::protocol::PositionEncoding::Utf8);
  KernelOutcome outcome = optimize_kernel(snapshot, kernel->name, path.string(), setup_of(run));
  if (run.options.apply != ApplyMode::Never && !outcome.report.error)
    outcome.report.apply = apply(run, path, input->file.text, outcome);
  finish_kernel(run, std::move(outcome));
  return {};
}

/// @return number of kernels of the file that match --kernel
Result<std::size_t> optimize_file(Run &run, const std::filesystem::path &path, bool named) {
  const Result<Input> input = run.reader.read(path);
  if (!input)
    return std::unexpected(input.error());
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(input->facts))
    return fail(path.string() + ": " + reason->message);
  std::vector<std::string> names;
  for (const analysis::Kernel &kernel : input->facts.kernels)
    if (is_wanted(kernel, run.options.kernel))
      names.push_back(kernel.qualified_name);
  if (input->facts.kernels.empty() && (named || analysis::is_python(path.string())))
    return std::unexpected(explain_no_kernels(*input, path));
  for (const std::string &name : names) {
    if (run.interrupt.requested())
      break;
    if (const Result<void> done = optimize_one(run, path, name); !done)
      return std::unexpected(done.error());
  }
  return names.size();
}

void add_failure(Run &run, Error error) {
  print_error(error);
  run.report.failures.push_back(std::move(error));
}

int finish(Run &run, int code) {
  if (run.options.json)
    std::cout
        << render_json(run.report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
        << std::endl;
  if (!run.options.html.empty()) {
    if (const Result<void> written = write_atomically(run.options.html, render_html(run.report));
        !written) {
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

bool has_failed(const Report &report) {
  return !report.failures.empty() ||
         std::any_of(report.kernels.begin(), report.kernels.end(), [](const KernelReport &kernel) {
           return kernel.error ||
                  (kernel.apply && kernel.apply->state == ApplyResult::State::Refused);
         });
}

} // namespace

int run_optimize(const OptimizeOptions &options) {
  server::Interrupt interrupt;
  Run run(options, interrupt);
  run.report.version = WARPWRIGHT_VERSION;
  run.report.command = options.command;
  run.report.date = utc_now();
  const auto files = find_sources(options.paths);
  if (!files)
    return fail_before_start(run, files.error(), kUsage);
  if (const Result<void> settled = settle_options(run, files->front()); !settled)
    return fail_before_start(run, settled.error(), kFailed);
  if (!options.spec.empty())
    if (const Result<void> spec = run.reader.use_spec(options.spec); !spec)
      return fail_before_start(run, spec.error(), kUsage);
  if (const Result<void> ledger = open_ledger(run); !ledger)
    return fail_before_start(run, ledger.error(), kFailed);
  if (const Result<void> connected = connect(run); !connected)
    return fail_before_start(run, connected.error(), kFailed);
  if (!options.json && !on_gpu(run.report))
    std::cout << "No GPU here: variants are checked on the CPU. That proves correctness and not "
                 "GPU speed.\n\n";
  std::size_t found = 0;
  for (const std::filesystem::path &path : *files) {
    const bool named =
        std::find(options.paths.begin(), options.paths.end(), path.string()) != options.paths.end();
    const Result<std::size_t> kernels = optimize_file(run, path, named);
    if (kernels)
      found += *kernels;
    else
      add_failure(run, kernels.error());
  }
  if (found == 0 && run.report.failures.empty())
    add_failure(run, {options.kernel.empty() ? "no kernel in the given files"
                                             : "no kernel named " + options.kernel,
                      "List what there is with: warpwright analyze FILE"});
  return finish(run, has_failed(run.report) ? kFailed : kOk);
}

} // namespace warpwright::cli
