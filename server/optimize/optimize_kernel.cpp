// Optimization of one kernel for the editor, and recreation of a verified variant's edit.
#include "server/engine.h"

#include "analysis/python/module_facts.h"
#include "analysis/task/infer_task.h"
#include "generator/search/search.h"
#include "generator/text/states/write_plan.h"
#include "runner/connect/choose_device.h"
#include "server/optimize/candidate_evaluator.h"
#include "server/optimize/measure_prefixes.h"
#include "server/optimize/policies.h"
#include "server/optimize/project.h"
#include "server/optimize/optimize_module.h"
#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>
#include <span>

namespace warpwright::server {

namespace {

constexpr std::chrono::milliseconds kMeasureBudget{2'000};
/// Minimal time for one candidate under any budget: compiling alone can take a second.
constexpr std::chrono::milliseconds kShortestJob{5'000};

Error missing_task(const analysis::Kernel &kernel) {
  if (!kernel.slice_error.empty())
    return {"'" + kernel.name + "' cannot be measured on its own: " + kernel.slice_error};
  return {"not all that a run of '" + kernel.name +
              "' needs is known: " + joined(kernel.task.missing, ", ", &analysis::MissingFact::name),
          "Use the code action 'Insert the facts that Warpwright needs above " + kernel.name + "'"};
}

runner::VerifyOptions verify_options(const OptimizeRequest &request) {
  runner::VerifyOptions options;
  options.timeout = std::min(options.timeout, std::max(request.settings.budget, kShortestJob));
  options.device = request.settings.device;
  options.measure_budget = std::min(kMeasureBudget, request.settings.budget);
  return options;
}

/// Progress reports of the search to the editor.
class Trial {
public:
  Trial(const OptimizeRequest &request, const OptimizeEvents &events)
      : request_(request), events_(events) {}

  void take(const search::Variant &variant, const model::Task &task, const std::string &hash) {
    const model::Verdict &verdict = variant.verdict;
    runner::LedgerEntry entry{request_.snapshot->facts.path, request_.kernel, task, variant.plan,
                              verdict, variant.state.file.text, hash,
                              proposed(variant.state.provenance)};
    if (!is_from_runner(verdict)) { // a lost runner says nothing about the variant
      entry.plan.moves.clear();
      for (const source::Move &move : variant.state.moves)
        entry.plan.moves.push_back(source::to_string(move));
      if (events_.on_unjudged)
        events_.on_unjudged(std::move(entry));
      return;
    }
    ++summary_.tried;
    summary_.verified += verdict.outcome == model::Outcome::Verified;
    if (is_faster(verdict) && (!summary_.best || verdict.speedup->ratio > summary_.best->ratio))
      summary_.best = verdict.speedup;
    if (events_.on_entry)
      events_.on_entry(std::move(entry));
  }

  OptimizeSummary summary_of(const AdvisedPolicy &policy) const {
    OptimizeSummary summary = summary_;
    summary.policy = policy.described();
    summary.analysis = policy.analysis();
    return summary;
  }

private:
  const OptimizeRequest &request_;
  const OptimizeEvents &events_;
  OptimizeSummary summary_;
};

/// The runner's device; nullopt: the runner does not say.
std::optional<model::DeviceInfo> device_of(runner::BlockingClient &client,
                                           const std::string &wanted) {
  const auto info = client.info();
  auto device = info ? runner::choose_device(*info, wanted)
                     : Result<model::DeviceInfo>(std::unexpected(info.error()));
  return device ? std::optional(std::move(*device)) : std::nullopt;
}

/// True if two plans compute the same in the same way: line numbers in the source are ignored, the rest must be equal.
bool same_plan(model::Plan left, model::Plan right) {
  const bool same_source = source_hash(left.source) == source_hash(right.source);
  left.source.clear();
  right.source.clear();
  return same_source && model::hash(left) == model::hash(right);
}

} // namespace

Result<OptimizeSummary> optimize(const OptimizeRequest &request, runner::BlockingClient &client,
                                 Policies &policies, const OptimizeEvents &events,
                                 std::stop_token stop) {
  const analysis::Kernel *kernel = request.snapshot->find_kernel(request.kernel);
  if (!kernel)
    return fail("there is no kernel '" + request.kernel + "' in " + request.snapshot->facts.path);
  const auto choice = parse_policy(request.settings.policy);
  if (!choice)
    return std::unexpected(choice.error());
  if (kernel->task.task.module)
    return optimize_module(request, client, events, stop,
                           policies.for_module(*choice, events.on_stage, stop).get());
  if (!kernel->task.inferred)
    return std::unexpected(missing_task(*kernel));
  const std::string hash = source_hash(kernel->slice);
  const std::string &path = request.snapshot->facts.path;
  const model::Task &task = kernel->task.task;
  const auto device = device_of(client, request.settings.device);
  const source::State original =
      states::state_of_file({path, *request.snapshot->text}, ProjectSettings().read(path).parse, kernel->name, task,
                            arch::gpu_or_cpu(device));

  Trial trial(request, events);
  CandidateEvaluator evaluator(client, verify_options(request));
  const std::stop_callback forward(stop, [&] { evaluator.give_up().request_stop(); });
  search::TextSearchEvents search_events;
  search_events.evaluate = [&](const model::Task &task, const model::Plan &plan,
                               std::stop_token token) {
    return evaluator.evaluate(task, plan, std::move(token), events.on_stage,
                              events.on_runner_error);
  };
  search_events.on_variant = [&](const search::Variant &variant, std::size_t) {
    trial.take(variant, task, hash);
  };
  const auto policy =
      policies.for_kernel(*choice, {path, task, device, request.settings.learn, events.on_stage},
                          evaluator.give_up().get_token());
  const auto deadline = std::chrono::steady_clock::now() + request.settings.budget;
  const auto tried = search::search(
      original, task, *policy,
      {.max_variants = request.settings.max_variants, .budget = request.settings.budget},
      search_events, evaluator.give_up().get_token());
  measure_prefixes(original, task, tried, search_events, deadline, evaluator.give_up().get_token());
  if (const auto failure = evaluator.failure())
    return std::unexpected(*failure);
  return trial.summary_of(*policy);
}

Result<VariantEdits> variant_edits(const std::string &path, const std::string &text, const runner::LedgerEntry &entry,
                                   const VariantForm &form, const std::map<std::string, std::string> &changed_files) {
  if (entry.task.module)
    return VariantEdits{TRY(module_variant_edits(text, entry, form))};
  const Error changed{"the code around '" + entry.kernel +
                          "' no longer leads to the variant that was verified",
                      "Optimize it again"};
  source::State state = states::state_of_file({path, text}, ProjectSettings().read(path).parse, entry.kernel,
                                              entry.task, arch::gpu_or_cpu(entry.verdict.device), changed_files);
  const analysis::SourceFile includer = state.includer;
  std::span<const std::string> moves = entry.plan.moves;
  if (entry.proposed.answer && states::is_rewrite(entry.plan.moves)) {
    auto written = states::write_plan(state, entry.task, *entry.proposed.answer);
    if (!written)
      return fail(changed.message + ": " + written.error().message, changed.remedy);
    state = std::move(*written);
    moves = moves.subspan(1);
  }
  for (const std::string &spelling : moves) {
    const auto move = source::move_from_string(spelling);
    if (!move)
      return std::unexpected(move.error());
    auto next = states::apply_move(state, *move);
    if (!next)
      return fail(changed.message + ": " + spelling + ": " + next.error().message, changed.remedy);
    state = std::move(*next);
  }
  const auto plan = states::render_plan(state, entry.task);
  if (!plan)
    return fail(changed.message + ": " + plan.error().message, changed.remedy);
  model::Plan found = *plan;
  found.moves = entry.plan.moves; // the moves of a rewritten text are made above
  if (!same_plan(found, entry.plan))
    return std::unexpected(changed);
  VariantEdits edits{diff_edits(text, state.file.text)};
  if (state.includer.text != includer.text)
    edits.includer = FileEdits{includer.path, includer.text, diff_edits(includer.text, state.includer.text)};
  return edits;
}

Result<std::vector<TextEdit>> missing_facts_edits(const Snapshot &snapshot,
                                                  const std::string &name) {
  const analysis::Kernel *kernel = snapshot.find_kernel(name);
  if (kernel && analysis::is_python(snapshot.facts.path))
    return analysis::module_spec_edits(*snapshot.text, name);
  if (!kernel || kernel->task.missing.empty())
    return fail("no facts of '" + name + "' are missing");
  const std::string comment = analysis::suggested_spec(*kernel, kernel->task);
  if (comment.empty())
    return fail("a comment cannot give what '" + name +
                "' lacks: " + kernel->task.missing.front().question);
  const LineIndex lines(*snapshot.text);
  const std::size_t start = lines.line_start(lines.line_of(kernel->range.begin));
  const std::string indentation = indentation_at(*snapshot.text, start);
  std::string text;
  for (std::size_t begin = 0; begin < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size() - 1) + 1;
    text += indentation + comment.substr(begin, end - begin);
    begin = end;
  }
  return std::vector<TextEdit>{{{start, start}, text}};
}

} // namespace warpwright::server
