// Implementation of one kernel's search.
#include "server/cli/kernel_search.h"

#include "analysis/task/infer_task.h"
#include "server/candidate_evaluator.h"
#include "server/source_hash.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<std::int64_t> evaluated(const std::optional<Expression> &expression,
                                      const Sizes &sizes) {
  if (!expression)
    return std::nullopt;
  const Result<std::int64_t> value = expression->evaluate(sizes);
  return value ? std::optional(*value) : std::nullopt;
}

std::string sizes_text(const Sizes &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text;
}

KernelReport heading(const analysis::Kernel &kernel, const std::string &shown_path) {
  KernelReport report;
  report.file = shown_path;
  report.name = kernel.name;
  report.line = kernel.line;
  report.assumptions = kernel.task.assumptions;
  for (const analysis::MissingFact &fact : kernel.task.missing)
    report.missing.emplace_back(fact.name, fact.question);
  return report;
}

/// Of the state, because a state that could not be rendered has no plan.
std::vector<std::string> moves_of(const generator::State &state) {
  std::vector<std::string> moves;
  for (const generator::Move &move : state.moves)
    moves.push_back(generator::to_string(move));
  return moves;
}

/// The parser recovers from errors, but what it then reads is not what the user meant.
bool is_broken(const analysis::FileFacts &facts, const analysis::Kernel &kernel) {
  return std::ranges::any_of(facts.diagnostics, [&](const analysis::Diagnostic &diagnostic) {
    return diagnostic.rule == "syntax" && diagnostic.severity == analysis::Severity::Error &&
           kernel.range.contains(diagnostic.range.begin);
  });
}

/// One search as it runs: counts for the progress bar, and the ledger.
class Evaluation {
public:
  Evaluation(const SearchSetup &setup, const analysis::SourceFile &file,
             const analysis::Kernel &kernel)
      : setup_(setup), file_(file), kernel_(kernel), evaluator_(setup.client, setup.verify),
        started_(Clock::now()) {
    progress_.kernel = kernel.name;
    progress_.limit = std::size_t(setup.limits.max_variants);
  }

  model::Verdict evaluate(const model::Task &task, const model::Plan &plan, std::stop_token stop) {
    show(moves_text(plan.moves));
    return evaluator_.evaluate(task, plan, std::move(stop));
  }

  void take(const generator::Variant &variant, const model::Task &task) {
    const model::Verdict &verdict = variant.verdict;
    ++progress_.tried;
    progress_.verified += verdict.outcome == model::Outcome::Verified;
    if (verdict.outcome == model::Outcome::Verified && verdict.speedup)
      progress_.best = std::max(progress_.best.value_or(0), verdict.speedup->ratio);
    show({});
    record(variant, task);
  }

  std::stop_source &give_up() { return evaluator_.give_up(); }
  std::optional<Error> failure() { return evaluator_.failure(); }
  const std::optional<Error> &ledger_failure() const { return ledger_failure_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

private:
  void show(std::string doing) {
    progress_.doing = std::move(doing);
    progress_.elapsed_share = seconds() * 1e3 / double(setup_.limits.budget.count());
    setup_.progress.show(progress_);
  }

  void record(const generator::Variant &variant, const model::Task &task) {
    if (!setup_.ledger || !server::is_from_runner(variant.verdict))
      return;
    const Result<void> recorded =
        setup_.ledger->record({file_.path, kernel_.name, task, variant.plan, variant.verdict,
                               variant.state.file.text, server::source_hash(kernel_.slice),
                               server::proposed(variant.state.provenance)});
    if (!recorded && !ledger_failure_)
      ledger_failure_ = recorded.error();
  }

  const SearchSetup &setup_;
  const analysis::SourceFile &file_;
  const analysis::Kernel &kernel_;
  server::CandidateEvaluator evaluator_;
  Clock::time_point started_;
  ProgressState progress_;
  std::optional<Error> ledger_failure_;
};

std::optional<std::size_t> choose_best(const std::vector<generator::Variant> &variants,
                                       bool measures) {
  if (measures) {
    const generator::Variant *best = generator::best_variant(variants);
    return best ? std::optional(std::size_t(best - variants.data())) : std::nullopt;
  }
  const auto verified =
      std::find_if(variants.begin(), variants.end(), [](const generator::Variant &variant) {
        return variant.verdict.outcome == model::Outcome::Verified && !variant.state.moves.empty() &&
               variant.state.provenance.not_applicable.empty();
      });
  return verified == variants.end() ? std::nullopt
                                    : std::optional(std::size_t(verified - variants.begin()));
}

} // namespace

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

KernelOutcome optimize_kernel(const analysis::SourceFile &file,
                              const analysis::ParseSettings &settings,
                              const analysis::FileFacts &facts, const analysis::Kernel &kernel,
                              const std::string &shown_path, const SearchSetup &setup) {
  KernelOutcome outcome{heading(kernel, shown_path), {}, {}};
  KernelReport &report = outcome.report;
  if (!kernel.task.inferred || is_broken(facts, kernel)) {
    report.error = explain_missing_task(facts, kernel);
    if (!kernel.task.missing.empty())
      report.comment = analysis::suggested_spec(kernel, kernel.task);
    return outcome;
  }
  const model::Task &task = kernel.task.task;
  report.sizes = sizes_text(task.sizes);
  report.task_hash = model::hash(task);
  report.work_bytes = evaluated(task.work.bytes, task.sizes);
  report.work_flops = evaluated(task.work.flops, task.sizes);

  Evaluation evaluation(setup, file, kernel);
  const std::stop_callback forward(setup.stop, [&] { evaluation.give_up().request_stop(); });
  generator::TextSearchEvents events;
  events.evaluate = [&](const model::Task &task, const model::Plan &plan, std::stop_token stop) {
    return evaluation.evaluate(task, plan, stop);
  };
  events.on_variant = [&](const generator::Variant &variant, std::size_t) {
    evaluation.take(variant, task);
  };
  const generator::State original{
      file, settings, kernel.name, {}, {}, arch::gpu_or_cpu(setup.device)};
  const auto policy = setup.policies.for_kernel(setup.policy, task, setup.device,
                                                evaluation.give_up().get_token());
  const std::vector<generator::Variant> variants = generator::search(
      original, task, *policy, setup.limits, events, evaluation.give_up().get_token());
  setup.progress.clear();
  report.policy = policy->described();
  report.analysis = policy->analysis();

  for (const generator::Variant &variant : variants)
    report.variants.push_back(
        {moves_of(variant.state), variant.verdict, variant.state.provenance.proposer,
         variant.state.provenance.not_applicable,
         variant.state.provenance.not_applicable.empty() ? "" : variant.plan.source});
  report.error = evaluation.failure();
  outcome.ledger_failure = evaluation.ledger_failure();
  report.seconds = evaluation.seconds();
  report.best = choose_best(variants, setup.measures);
  if (report.best) {
    outcome.best_text = variants[*report.best].state.file.text;
    report.diff = unified_diff(file.text, outcome.best_text, "a/" + shown_path, "b/" + shown_path);
  }
  return outcome;
}

} // namespace warpwright::cli
