// `warpwright check`: changed kernels and modules against their older selves, and new diagnostics.
//
// The runner is contacted only if there is something to compare. If it cannot be reached, the
// comparisons are unknown. Nothing in the repository is changed.
#include "server/cli/check/changes.h"
#include "server/cli/check/comparison.h"
#include "server/cli/analyze_json.h"
#include "server/cli/commands.h"
#include "server/cli/files.h"
#include "server/cli/runner_choice.h"
#include "server/cli/terminal.h"
#include "server/interrupt.h"
#include "server/kernel_status.h"
#include "server/source_hash.h"
#include "support/files.h"
#include "support/version.h"
#include "support/words.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kJobTimeout{120'000}, kMeasureBudget{2'000};

/// A folder that is removed with this object.
class TemporaryFolder {
public:
  static Result<std::unique_ptr<TemporaryFolder>> make() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "warpwright-check-XXXXXX").string();
    if (error || !::mkdtemp(name.data()))
      return fail("cannot make a folder in " + fs::path(name).parent_path().string(), "Set TMPDIR to a folder that may be written");
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(fs::canonical(name)));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path &path() const { return path_; }

private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

struct Run {
  const CheckOptions &options;
  server::Interrupt &interrupt;
  CheckResult result;
  std::unique_ptr<runner::Ledger> ledger;
  Result<ChosenRunner> chosen = fail("no runner was needed");
};

/// Asks the runner for the verdict of a job.
Result<model::Verdict> ask(Run &run, const CheckJob &job) {
  runner::VerifyOptions options;
  options.device = run.options.device;
  options.timeout = kJobTimeout;
  options.measure_budget = kMeasureBudget;
  options.host_code = model::is_host_code(job.candidate);
  return run.chosen->client->verify(job.task, job.candidate, options, run.interrupt.token());
}

std::string ratio_text(double ratio) { return printed("%.2fx", ratio); }

/// The variant of the ledger that a kernel's code is, if it was measured as faster.
std::optional<runner::LedgerEntry> applied_variant(Run &run, const fs::path &root, const std::string &path,
                                                   const analysis::Kernel &kernel) {
  if (!run.ledger || kernel.slice.empty())
    return std::nullopt;
  const auto history = run.ledger->of_kernel((root / path).string(), kernel.name);
  if (!history)
    return std::nullopt;
  const auto entries = std::make_shared<const server::Entries>(history->entries);
  const auto status = server::kernel_status(kernel, server::source_hash(kernel.slice), entries, {});
  return status.applied && status.applied->verdict.speedup ? std::optional(*status.applied) : std::nullopt;
}

/// How the changed code stands to the original that an applied variant of the ledger replaced.
std::string against_ledger(Run &run, const fs::path &root, const ChangedKernel &changed) {
  if (const auto now = applied_variant(run, root, changed.path, changed.head))
    return "a variant of the ledger, " + ratio_text(now->verdict.speedup->ratio) + " over the original";
  const auto before = applied_variant(run, root, changed.path, *changed.base);
  if (!before)
    return "";
  const std::string text = ratio_text(before->verdict.speedup->ratio) + " over the original before";
  const auto job = job_against_original(*before, changed.head);
  const auto verdict = job ? ask(run, *job) : Result<model::Verdict>(std::unexpected(job.error()));
  if (!verdict || !verdict->speedup)
    return text + ", now not measured";
  return text + ", now " + ratio_text(verdict->speedup->ratio);
}

void set_unknown(CheckedKernel &kernel, const Error &error) {
  kernel.state = CheckState::Unknown;
  kernel.label = "UNKNOWN";
  kernel.message = describe(error);
}

/// Compares one kernel or module.
CheckedKernel check_one(Run &run, const fs::path &root, const ChangedKernel &changed) {
  CheckedKernel kernel{changed.path, changed.head.name, changed.head.line, CheckState::Fine, "NEW", "", {}, ""};
  if (!changed.base)
    return kernel;
  if (run.interrupt.requested()) {
    set_unknown(kernel, {"interrupted", ""});
    return kernel;
  }
  const bool is_module = changed.head.task.task.module.has_value() || changed.base->task.task.module.has_value();
  if (!run.chosen) {
    const auto job = is_module ? Result<CheckJob>(CheckJob{}) : kernel_job(*changed.base, changed.head);
    set_unknown(kernel, job ? run.chosen.error() : job.error());
    return kernel;
  }
  const auto job = is_module ? module_job(changed, *run.chosen->client) : kernel_job(*changed.base, changed.head);
  const auto verdict = job ? ask(run, *job) : Result<model::Verdict>(std::unexpected(job.error()));
  if (!verdict) {
    set_unknown(kernel, verdict.error());
    return kernel;
  }
  kernel.verdict = *verdict;
  judge(kernel, run.options.fail_slower, run.options.results_may_change);
  if (!is_module)
    kernel.applied = against_ledger(run, root, changed);
  return kernel;
}

std::optional<analysis::Severity> severity_of(const std::string &text) {
  for (const auto severity : {analysis::Severity::Error, analysis::Severity::Warning,
                              analysis::Severity::Information, analysis::Severity::Hint})
    if (name(severity) == text)
      return severity;
  return std::nullopt;
}

void take_changes(Run &run, Changes changes) {
  const auto least = severity_of(run.options.fail_diagnostics);
  for (const auto &[path, diagnostic] : changes.diagnostics)
    run.result.diagnostics.push_back({path, diagnostic.line, diagnostic.column, diagnostic.rule,
                                      diagnostic.message, name(diagnostic.severity),
                                      least && diagnostic.severity <= *least});
  run.result.failures = std::move(changes.failures);
  run.result.unchanged = changes.unchanged;
  run.result.removed = changes.removed;
  run.result.files = changes.files;
}

/// Contacts the runner of the project of the first changed file.
void connect(Run &run, const fs::path &first) {
  const config::FileSettings settings = InputReader().settings_of(first);
  print_problems(settings);
  const auto url = server::runner_of(settings.project, run.options.runner);
  run.chosen = url ? connect_runner(*url, run.options.device) : Result<ChosenRunner>(std::unexpected(url.error()));
  if (!run.chosen) {
    print_error(run.chosen.error());
    return;
  }
  run.result.device = run.chosen->device.name;
  run.result.on_gpu = run.chosen->device.kind == "cuda";
}

/// Errors: the ledger of --ledger does not open. Without the default ledger the check goes on.
Result<void> open_ledger(Run &run) {
  const fs::path path = run.options.ledger.empty() ? runner::Ledger::default_path() : fs::path(run.options.ledger);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    if (run.options.ledger.empty())
      return {}; // a check writes nothing, so it makes no ledger
    return fail("there is no ledger " + path.string(), "Name the ledger of `warpwright optimize --ledger`");
  }
  auto ledger = runner::Ledger::open(path);
  if (ledger)
    run.ledger = std::move(*ledger);
  else if (!run.options.ledger.empty())
    return std::unexpected(ledger.error());
  else
    run.result.notes.push_back("the ledger was not read: " + describe(ledger.error()));
  return {};
}

Result<void> write_reports(const CheckOptions &options, const CheckResult &result) {
  if (!options.sarif.empty())
    TRY(write_atomically(options.sarif, check_sarif(result).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"));
  if (!options.junit.empty())
    TRY(write_atomically(options.junit, check_junit(result)));
  if (!options.markdown.empty())
    TRY(write_atomically(options.markdown, check_markdown(result)));
  return {};
}

int exit_code(const CheckOptions &options, const CheckResult &result) {
  const CheckState state = result.state();
  if (state == CheckState::Unknown && !options.allow_unknown)
    return kUnknown;
  return state == CheckState::Worse ? kFailed : kOk;
}

Result<void> check(Run &run) {
  const auto repository = TRY(Repository::open(run.options.base));
  run.result.base = repository.base();
  if (!repository.has_common_commit())
    run.result.notes.push_back("the histories of HEAD and " + run.options.base +
                               " share no commit that is here, so its newest state is the base");
  const auto folder = TRY(TemporaryFolder::make());
  TRY(repository.write_base(folder->path()));
  Changes changes = TRY(find_changes(repository, folder->path(), run.options.paths));
  TRY(open_ledger(run));
  const std::vector<ChangedKernel> kernels = std::move(changes.kernels);
  take_changes(run, std::move(changes));
  const auto compared = std::ranges::find_if(kernels, [](const ChangedKernel &kernel) { return kernel.base.has_value(); });
  if (compared != kernels.end())
    connect(run, repository.root() / compared->path);
  for (const ChangedKernel &kernel : kernels)
    run.result.kernels.push_back(check_one(run, repository.root(), kernel));
  return {};
}

} // namespace

int run_check(const CheckOptions &options) {
  server::Interrupt interrupt;
  Run run{options, interrupt, {}, nullptr};
  run.result.version = version();
  run.result.date = utc_now();
  run.result.revision = options.base;
  run.result.fail_slower = options.fail_slower;
  if (const auto checked = check(run); !checked) {
    print_error(checked.error());
    return kUsage;
  }
  std::cout << check_table(run.result, terminal_of(STDOUT_FILENO).color) << std::flush;
  if (const auto written = write_reports(options, run.result); !written) {
    print_error(written.error());
    return kUsage;
  }
  return exit_code(options, run.result);
}

} // namespace warpwright::cli
