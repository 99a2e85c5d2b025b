// `warpwright optimize`: for every kernel of every file a search, then what was found as text, JSON
// and HTML.
//
// What is wrong with the arguments is said before anything runs. A file's kernels are optimised one
// after the other, each on the file as it then is, so that with --apply their edits compose.
#include "server/cli/commands.h"

#include "analysis/config/project_disk.h"
#include "analysis/guard/guard.h"
#include "analysis/python/module_facts.h"
#include "runner/connect/choose_device.h"
#include "server/cli/files.h"
#include "server/cli/interrupt.h"
#include "server/cli/kernel_search.h"
#include "server/cli/module_search.h"
#include "server/cli/sources.h"
#include "server/cli/terminal.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>

namespace warpwright::cli {
namespace {

/// One candidate may take this long whatever the budget: compiling alone can take a second.
constexpr std::chrono::milliseconds kShortestJob{5'000};

/// What a run has opened before the first kernel.
struct Run {
  const OptimizeOptions &options;
  Report report;
  std::unique_ptr<runner::BlockingClient> client;
  std::unique_ptr<runner::Ledger> ledger;
  Terminal terminal = terminal_of(STDOUT_FILENO);
  Progress progress;
  Interrupt &interrupt;
  InputReader reader;
  std::string runner_url;
  std::chrono::milliseconds budget = kDefaultBudget;
  server::Policies policies;
  server::PolicyChoice policy;
  bool warned_of_ledger = false;

  Run(const OptimizeOptions &options, Interrupt &interrupt)
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

/// What the command line leaves open, the project of the first file says.
/// Errors: the approved project names a runner that cannot be used.
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
  const std::string &policy =
      run.options.policy.empty() ? settings.project.policy : run.options.policy;
  if (auto choice = server::parse_policy(policy)) // both were checked where they were read
    run.policy = std::move(*choice);
  if (settings.project.budget_ms)
    run.budget = std::chrono::milliseconds(*settings.project.budget_ms);
  if (run.options.budget)
    run.budget = *run.options.budget;
  return {};
}

/// An explicit ledger must work; without the default one the run goes on.
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
  const Result<void> written = run.options.output.empty()
                                   ? replace_unchanged(path, before, outcome.best_text)
                                   : write_atomically(target, outcome.best_text);
  if (!written)
    return {ApplyResult::State::Refused, "Not applied: " + describe(written.error()) + "."};
  return {ApplyResult::State::Applied,
          "Applied to " + target + ": " +
              moves_text(outcome.report.variants[*outcome.report.best].moves) + "."};
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
  SearchSetup setup{.client = *run.client,
                    .ledger = run.ledger.get(),
                    .progress = run.progress,
                    .policies = run.policies,
                    .policy = run.policy};
  setup.verify.device = run.options.device;
  setup.measures = on_gpu(run.report);
  setup.verify.measure = setup.measures;
  setup.verify.timeout = std::min(setup.verify.timeout, std::max(run.budget, kShortestJob));
  setup.limits = {run.options.max_variants, run.budget};
  setup.stop = run.interrupt.token();
  setup.device = run.report.device;
  return setup;
}

bool is_wanted(const analysis::Kernel &kernel, const std::string &name) {
  return name.empty() || kernel.name == name || kernel.qualified_name == name;
}

server::SnapshotPtr snapshot_of(const std::string &text, const analysis::FileFacts &facts) {
  return std::make_shared<const server::Snapshot>("", 0, std::make_shared<const std::string>(text),
                                                  server::AnalysisResult{facts, {}},
                                                  server::protocol::PositionEncoding::Utf8);
}

/// One kernel, or torch function, of the file as it is now.
Result<void> optimize_one(Run &run, const std::filesystem::path &path,
                          const std::string &qualified_name) {
  const Result<Input> input = run.reader.read(path);
  if (!input)
    return std::unexpected(input.error());
  const auto &kernels = input->facts.kernels;
  const auto kernel =
      std::find_if(kernels.begin(), kernels.end(), [&](const analysis::Kernel &candidate) {
        return candidate.qualified_name == qualified_name;
      });
  if (kernel == kernels.end())
    return fail("the kernel " + qualified_name + " is no longer in " + path.string(),
                "Run this again");
  KernelOutcome outcome =
      kernel->task.task.module
          ? optimize_module(snapshot_of(input->file.text, input->facts), kernel->name,
                            path.string(), setup_of(run), {.device = run.options.device})
          : optimize_kernel(input->file, input->settings.parse, input->facts, *kernel,
                            path.string(), setup_of(run));
  if (run.options.apply != ApplyMode::Never && !outcome.report.error)
    outcome.report.apply = apply(run, path, input->file.text, outcome);
  finish_kernel(run, std::move(outcome));
  return {};
}

Result<server::SnapshotPtr> read_modules(const std::filesystem::path &path) {
  auto text = read_file(path);
  if (!text)
    return std::unexpected(text.error());
  const std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
  const auto shared = std::make_shared<const std::string>(std::move(*text));
  return std::make_shared<const server::Snapshot>(
      "", 0, shared,
      server::AnalysisResult{analysis::module_facts(absolute, *shared, config::real_disk()), {}},
      server::protocol::PositionEncoding::Utf8);
}

/// The torch modules of a Python file, each on the file as it then is.
/// @return how many were asked for
Result<std::size_t> optimize_python_file(Run &run, const std::filesystem::path &path) {
  const auto first = read_modules(path);
  if (!first)
    return std::unexpected(first.error());
  std::vector<std::string> names;
  for (const analysis::Kernel &module : (*first)->facts.kernels)
    if (is_wanted(module, run.options.kernel))
      names.push_back(module.name);
  if ((*first)->facts.kernels.empty()) {
    const auto &found = (*first)->facts.diagnostics;
    return fail(found.empty() ? "no torch module in " + path.string() : found.front().message,
                "A module is a class that derives from nn.Module");
  }
  for (const std::string &name : names) {
    const auto snapshot = read_modules(path);
    if (!snapshot || run.interrupt.requested())
      break;
    if (!(*snapshot)->find_kernel(name))
      continue;
    KernelOutcome outcome =
        optimize_module(*snapshot, name, path.string(), setup_of(run),
                        {.device = run.options.device, .form = {run.options.in_place, run.options.standalone}, .mode = run.options.mode});
    if (run.options.apply != ApplyMode::Never && !outcome.report.error)
      outcome.report.apply = apply(run, path, *(*snapshot)->text, outcome);
    finish_kernel(run, std::move(outcome));
  }
  return names.size();
}

/// @return how many kernels of the file were asked for
Result<std::size_t> optimize_file(Run &run, const std::filesystem::path &path, bool named) {
  if (analysis::is_python(path.string()))
    return optimize_python_file(run, path);
  const Result<Input> input = run.reader.read(path);
  if (!input)
    return std::unexpected(input.error());
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(input->facts))
    return fail(path.string() + ": " + reason->message);
  std::vector<std::string> names;
  for (const analysis::Kernel &kernel : input->facts.kernels)
    if (is_wanted(kernel, run.options.kernel))
      names.push_back(kernel.qualified_name);
  if (input->facts.kernels.empty() && named)
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
  Interrupt interrupt;
  Run run(options, interrupt);
  run.report.version = WARPWRIGHT_VERSION;
  run.report.command = options.command;
  run.report.date = utc_date();
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
