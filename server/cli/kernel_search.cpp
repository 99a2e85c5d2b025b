#include "server/cli/kernel_search.h"

#include "analysis/python/module_facts.h"
#include "analysis/task/infer_task.h"
#include "server/optimize/kernel_report.h"
#include "support/exclusive.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether a syntax error lies inside the kernel. The parser recovers from errors, but the result
/// is not the kernel that the user meant.
bool is_broken(const analysis::FileFacts &facts, const analysis::Kernel &kernel) {
  return std::ranges::any_of(facts.diagnostics, [&](const analysis::Diagnostic &diagnostic) {
    return diagnostic.rule == "syntax" && diagnostic.severity == analysis::Severity::Error &&
           kernel.range.contains(diagnostic.range.begin);
  });
}

/// Reason why a kernel has no task: broken code, no launch, an unsupported construct or unknown
/// sizes, in this order.
Error explain_missing_task(const analysis::FileFacts &facts, const analysis::Kernel &kernel) {
  const std::string name = kernel.name;
  for (const analysis::Diagnostic &diagnostic : facts.diagnostics) {
    const bool is_error =
        diagnostic.rule == "syntax" && diagnostic.severity == analysis::Severity::Error;
    if (is_error &&
        (facts.pass == analysis::Pass::Scan || kernel.range.contains(diagnostic.range.begin)))
      return {
          "cannot parse " + name + ": " + facts.path + ":" + std::to_string(diagnostic.line) + ":" +
              std::to_string(diagnostic.column) + ": " + diagnostic.message,
          "Make the file compile first; flags come from compile_commands.json or .warpwright.toml"};
  }
  if (kernel.launches.empty())
    return {name + " is never launched in " + facts.path,
            "Add the launch, or describe the task in a comment above the kernel or with --spec"};
  if (!kernel.slice_error.empty())
    return {"cannot cut " + name + " out of " + facts.path + ": " + kernel.slice_error};
  return {"not all that a run of " + name + " needs is known from " + facts.path,
          "Answer what follows in a comment above the kernel or with --spec"};
}

void describe_missing(const server::Snapshot &snapshot, const analysis::Kernel &kernel,
                      KernelReport &report) {
  for (const analysis::MissingFact &fact : kernel.task.missing)
    report.missing.emplace_back(fact.name, fact.question);
  const auto &module = kernel.task.task.module;
  if (!module) {
    report.error = explain_missing_task(snapshot.facts, kernel);
    if (!kernel.task.missing.empty())
      report.comment = analysis::suggested_spec(kernel, kernel.task);
    return;
  }
  const bool is_cpp = module->language == "cpp";
  report.error = Error{"it is not known what a call of " + kernel.name + " is given",
                       is_cpp ? "Say it in a comment above the function (docs/use/task-comments.md)"
                              : "Say it in a comment above the class (docs/use/python.md)"};
  report.comment = kernel.task.comment;
  if (const auto edits = analysis::module_spec_edits(*snapshot.text, kernel.name);
      !is_cpp && edits && !edits->empty())
    report.comment = edits->front().replacement;
}

/// State of a running search: the variants found, the progress line and the ledger.
class Search {
public:
  Search(const SearchSetup &setup, const std::string &name)
      : setup_(setup),
        progress_(ProgressState{.kernel = name,
                                .limit = static_cast<std::size_t>(setup.settings.max_variants)}) {}

  server::OptimizeEvents events() {
    return {.on_entry = [this](runner::LedgerEntry entry) { take(std::move(entry)); },
            .on_stage =
                [this](const std::string &stage) { // also while another variant is judged
                  show([&](ProgressState &progress) { progress.doing = stage; });
                },
            .on_unjudged = [this](runner::LedgerEntry entry) { add(std::move(entry)); }};
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  server::Entries entries; ///< in the order tried
  std::optional<Error> ledger_failure;

private:
  void take(runner::LedgerEntry entry) {
    if (setup_.record)
      if (const auto recorded = setup_.record(entry); !recorded && !ledger_failure)
        ledger_failure = recorded.error();
    const std::string plan = model::hash(entry.plan);
    const auto known = std::ranges::find_if(
        entries, [&](const runner::LedgerEntry &other) { return model::hash(other.plan) == plan; });
    if (known == entries.end())
      return add(std::move(entry));
    *known = std::move(entry);
    count();
  }

  void add(runner::LedgerEntry entry) {
    entries.push_back(std::move(entry));
    count();
  }

  void count() {
    show([&](ProgressState &progress) {
      progress.tried = entries.size();
      progress.verified = static_cast<std::size_t>(std::ranges::count(
          entries, model::Outcome::Verified,
          [](const runner::LedgerEntry &other) { return other.verdict.outcome; }));
      for (const runner::LedgerEntry &other : entries)
        if (server::is_faster(other.verdict))
          progress.best = std::max(progress.best.value_or(0), other.verdict.speedup->ratio);
    });
  }

  template <class Change>
  void show(const Change &change) {
    progress_.with([&](ProgressState &progress) {
      change(progress);
      progress.elapsed_share =
          seconds() * 1e3 / static_cast<double>(setup_.settings.budget.count());
      setup_.on_progress(progress);
    });
  }

  const SearchSetup &setup_;
  Exclusive<ProgressState> progress_;
  const Clock::time_point start_ = Clock::now();
};

} // namespace

std::optional<KernelReport> report_of_obstacle(const server::Snapshot &snapshot,
                                               const analysis::Kernel &kernel,
                                               const std::string &shown_path) {
  if (kernel.task.inferred && (kernel.task.task.module || !is_broken(snapshot.facts, kernel)))
    return std::nullopt;
  KernelReport report = server::kernel_report(kernel, shown_path, {}, nullptr);
  describe_missing(snapshot, kernel, report);
  return report;
}

KernelOutcome optimize_kernel(const server::SnapshotPtr &snapshot, const std::string &name,
                              const std::string &shown_path, const SearchSetup &setup) {
  const analysis::Kernel &kernel = *snapshot->find_kernel(name);
  if (auto obstacle = report_of_obstacle(*snapshot, kernel, shown_path))
    return {std::move(*obstacle), {}, {}, {}};
  KernelOutcome outcome{.report = server::kernel_report(kernel, shown_path, {}, nullptr)};
  KernelReport &report = outcome.report;
  Search search(setup, name);
  const auto done = server::optimize({snapshot, name, setup.settings, setup.mode}, setup.client,
                                     setup.policies, search.events(), setup.stop);
  const auto entries = std::make_shared<const server::Entries>(std::move(search.entries));
  const server::KernelStatus status =
      server::kernel_status(kernel, server::source_hash(kernel.slice), entries, {});
  const bool untimed = status.best && setup.measures && !kernel.task.task.module &&
                       !server::is_faster(status.best->verdict);
  const runner::LedgerEntry *best = untimed ? nullptr : status.best;
  report = server::kernel_report(kernel, shown_path, status.current, best);
  outcome.ledger_failure = search.ledger_failure;
  report.seconds = search.seconds();
  if (done) {
    report.policy = done->policy;
    report.analysis = done->analysis;
  } else {
    report.error = done.error();
  }
  if (!best)
    return outcome;
  auto texts = server::add_diff(*snapshot, *best, setup.form, report);
  if (texts) {
    outcome.best_text = std::move(texts->text);
    outcome.includer = std::move(texts->includer);
    outcome.plan_file = server::plan_file_of(*best, setup.form);
    outcome.best = *best;
  } else if (!report.error) {
    report.error = texts.error();
  }
  return outcome;
}

} // namespace warpwright::cli
