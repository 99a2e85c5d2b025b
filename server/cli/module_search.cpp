#include "server/cli/module_search.h"

#include "analysis/python/module_facts.h"
#include "server/kernel_status.h"
#include "server/measured_text.h"
#include "server/torch/optimize_module.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

using Clock = std::chrono::steady_clock;

KernelReport heading(const analysis::Kernel &kernel, const std::string &shown_path) {
  KernelReport report;
  report.file = shown_path;
  report.name = kernel.name;
  report.line = kernel.line;
  report.assumptions = kernel.task.assumptions;
  return report;
}

/// "1.80x [1.78, 1.83] against eager+graph (12.3 us against 6.8 us)"
std::vector<std::string> baseline_lines(const model::Verdict &verdict) {
  std::vector<std::string> lines;
  for (const server::BaselineRatio &baseline : server::measured_baselines(verdict))
    lines.push_back(speedup_text(baseline.speedup) + " against " + baseline.name + " (" +
                    time_text(baseline.reference_time.median_ns) + " against " +
                    time_text(baseline.candidate_time.median_ns) +
                    (baseline.name.ends_with("+graph") ? ", device time)" : ", as called)"));
  for (const model::Baseline &baseline : verdict.baselines)
    if (!baseline.speedup && !baseline.missing.empty())
      lines.push_back("not measured against " + baseline.name + ": " + baseline.missing);
  if (const std::string library = server::library_text(verdict); !library.empty())
    lines.push_back(library);
  return lines;
}

/// The search as it runs: what it found, the progress line and the ledger.
class Search {
public:
  Search(const SearchSetup &setup, const std::string &name) : setup_(setup) {
    progress_.kernel = name;
    progress_.limit = static_cast<std::size_t>(setup.limits.max_variants);
  }

  server::OptimizeEvents events() {
    return {.on_entry = [this](runner::LedgerEntry entry) { take(std::move(entry)); },
            .on_stage =
                [this](const std::string &stage) {
                  progress_.doing = stage;
                  show();
                },
            .on_runner_error = {},
            .on_problem = {}};
  }

  server::Entries entries; ///< in the order tried
  std::optional<Error> ledger_failure;

private:
  void take(runner::LedgerEntry entry) {
    if (setup_.ledger)
      if (const auto recorded = setup_.ledger->record(entry); !recorded && !ledger_failure)
        ledger_failure = recorded.error();
    const std::string plan = model::hash(entry.plan);
    const auto known = std::ranges::find_if(
        entries, [&](const runner::LedgerEntry &other) { return model::hash(other.plan) == plan; });
    if (known != entries.end())
      *known = std::move(entry);
    else
      entries.push_back(std::move(entry));
    progress_.tried = entries.size();
    progress_.verified = static_cast<std::size_t>(
        std::ranges::count(entries, model::Outcome::Verified,
                           [](const runner::LedgerEntry &other) { return other.verdict.outcome; }));
    for (const runner::LedgerEntry &other : entries)
      if (server::is_faster(other.verdict))
        progress_.best = std::max(progress_.best.value_or(0), other.verdict.speedup->ratio);
    show();
  }

  void show() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    progress_.elapsed_share = seconds * 1e3 / static_cast<double>(setup_.limits.budget.count());
    setup_.progress.show(progress_);
  }

  const SearchSetup &setup_;
  ProgressState progress_;
  const Clock::time_point start_ = Clock::now();
};

void describe_missing(const server::Snapshot &snapshot, const analysis::Kernel &kernel,
                      KernelReport &report) {
  const bool is_cpp = kernel.task.task.module->language == "cpp";
  report.error = Error{"it is not known what a call of " + kernel.name + " is given",
                       is_cpp ? "Say it in a comment above the function (docs/task-comments.md)"
                              : "Say it in a comment above the class (docs/python.md)"};
  report.comment = kernel.task.comment;
  for (const analysis::MissingFact &fact : kernel.task.missing)
    report.missing.emplace_back(fact.name, fact.question);
  if (const auto edits = analysis::module_spec_edits(*snapshot.text, kernel.name);
      !is_cpp && edits && !edits->empty())
    report.comment = edits->front().replacement;
}

} // namespace

KernelOutcome optimize_module(const server::SnapshotPtr &snapshot, const std::string &name,
                              const std::string &shown_path, const SearchSetup &setup,
                              const ModuleSearchOptions &options) {
  const analysis::Kernel &kernel = *snapshot->find_kernel(name);
  KernelOutcome outcome{heading(kernel, shown_path), {}, {}};
  KernelReport &report = outcome.report;
  if (!kernel.task.inferred) {
    describe_missing(*snapshot, kernel, report);
    return outcome;
  }
  server::Settings settings;
  settings.device = options.device;
  settings.budget = setup.limits.budget;
  settings.max_variants = setup.limits.max_variants;
  const auto start = Clock::now();
  Search search(setup, name);
  const auto policy = setup.policies.for_module(setup.policy);
  const auto done = server::optimize_module({snapshot, name, settings, options.mode}, setup.client,
                                            search.events(), setup.stop, policy.get());
  report.policy = policy->described;
  report.analysis = policy->analysis;
  setup.progress.clear();
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!done)
    report.error = done.error();
  outcome.ledger_failure = search.ledger_failure;
  const auto entries = std::make_shared<const server::Entries>(std::move(search.entries));
  const server::KernelStatus status =
      server::kernel_status(kernel, server::source_hash(kernel.slice), entries, {});
  for (const runner::LedgerEntry &entry : *entries) {
    if (&entry == status.best)
      report.best = report.variants.size();
    report.variants.push_back({entry.plan.moves, entry.verdict, entry.proposed.by});
    report.sizes = server::shapes_text(entry.task);
    report.task_hash = entry.verdict.task_hash;
    if (entry.task.work.bytes)
      if (const auto bytes = entry.task.work.bytes->evaluate(entry.task.sizes))
        report.work_bytes = *bytes;
  }
  if (!status.best)
    return outcome;
  report.baselines = baseline_lines(status.best->verdict);
  const auto edits = server::module_variant_edits(*snapshot->text, *status.best, options.form);
  const auto text = edits ? apply_edits(*snapshot->text, *edits)
                          : Result<std::string>(std::unexpected(edits.error()));
  if (text) {
    outcome.best_text = *text;
    report.diff = unified_diff(*snapshot->text, *text, "a/" + shown_path, "b/" + shown_path);
  } else if (!report.error) {
    report.error = text.error();
  }
  return outcome;
}

} // namespace warpwright::cli
