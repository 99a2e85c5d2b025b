#include "server/optimize/optimize_module.h"

#include "analysis/python/applied_variant.h"
#include "runner/connect/choose_device.h"
#include "server/export/cpp_writer.h"
#include "server/export/model_writer.h"
#include "server/kernel_status.h"
#include "server/measured_text.h"
#include "server/optimize/candidate_evaluator.h"
#include "support/model/json.h"
#include "support/model/verdict_text.h"

#include <algorithm>

namespace warpwright::server {
namespace {

/// Includes torch.compile of a whole network.
constexpr std::chrono::milliseconds kJobTimeout{240'000};

bool has_any(const std::string &text, std::initializer_list<const char *> words) {
  return std::ranges::any_of(
      words, [&](const char *word) { return text.find(word) != std::string::npos; });
}

/// The number N in "(line N)"; nullopt: there is none.
std::optional<std::size_t> line_in(const std::string &message) {
  const std::size_t at = message.rfind("(line ");
  if (at == std::string::npos)
    return std::nullopt;
  const std::size_t line = std::strtoul(message.c_str() + at + 6, nullptr, 10);
  return line > 0 ? std::optional(line) : std::nullopt;
}

/// The error that made all variants fail if it is the module's own fault; else nullopt.
std::optional<Error> fault_of_reference(const TorchOutcome &outcome) {
  for (const search::TorchVariant &variant : outcome.variants)
    if (model::blames_reference(variant.verdict))
      return Error{variant.verdict.message, ""};
  return std::nullopt;
}

/// Digits of a plan's hash in the marks in the user's file and in the plan file's name.
constexpr std::size_t kShortHash = 16;
/// Separator of the parts of a Python variant's text in the ledger: package form, plan file, standalone form.
constexpr char kPart = '\f';

/// Character before the user's file in the variant of a part of a C++ function, whose task has a file with that part.
constexpr char kWholeFile = '\x1f';

std::string part_of(const std::string &text, int index) {
  std::size_t start = 0;
  for (; index > 0 && start != std::string::npos; --index)
    start = text.find(kPart, start) == std::string::npos ? std::string::npos
                                                         : text.find(kPart, start) + 1;
  return start == std::string::npos ? std::string()
                                    : text.substr(start, text.find(kPart, start) - start);
}

std::string block_of(const runner::LedgerEntry &entry, const VariantForm &form) {
  return part_of(entry.variant_text, form.standalone ? 2 : 0);
}

/// Name that is unique for each plan, so that undoing and redoing an edit finds the right file.
std::string plan_file_name(const std::string &module, const model::Plan &plan) {
  return module + "." + model::hash(plan).substr(0, kShortHash) + ".wwplan";
}

/// Progress reports of the search to the editor.
class Trial {
public:
  Trial(const OptimizeRequest &request, const analysis::Kernel &kernel,
        const OptimizeEvents &events, const ModulePolicy *policy)
      : request_(request), kernel_(kernel), hash_(source_hash(kernel.slice)), events_(events),
        policy_(policy) {}

  void take(const TorchTask &task, const model::Plan &plan, const model::Verdict &verdict) {
    if (!is_from_runner(verdict))
      return; // a lost runner says nothing about the variant
    told_[model::hash(plan)] = verdict.outcome;
    std::string text;
    if (verdict.outcome == model::Outcome::Verified)
      if (auto written = variant_text(task, plan, verdict))
        text = std::move(*written);
    if (events_.on_entry)
      events_.on_entry({request_.snapshot->facts.path, request_.kernel, task.task, plan, verdict,
                        std::move(text), hash_, proposed(model::hash(plan))});
  }

  /// Reports a variant again if its outcome has changed.
  void correct(const TorchTask &task, const model::Plan &plan, const model::Verdict &verdict) {
    const auto told = told_.find(model::hash(plan));
    if (told != told_.end() && told->second != verdict.outcome)
      take(task, plan, verdict);
  }

private:
  runner::Proposed proposed(const std::string &plan) const {
    if (!policy_)
      return {};
    const auto known = policy_->proposed.find(plan);
    return known == policy_->proposed.end() ? runner::Proposed{} : known->second;
  }

  Result<std::string> variant_text(const TorchTask &task, const model::Plan &plan,
                                   const model::Verdict &verdict) const {
    if (task.task.module->language == "python")
      return module_variant_text(task, plan, verdict);
    const bool on_gpu = verdict.device.kind == "cuda";
    analysis::Kernel function = kernel_;
    if (const auto &cut = kernel_.cut) {
      function.range = cut->range;
      function.name_range = cut->name_range;
      function.body_range = cut->body_range;
    }
    auto variant = write_cpp_variant(
        task.task, function, plan,
        {.comment = measured_comment(verdict, plan.moves),
         .plan = model::hash(plan).substr(0, kShortHash),
         .compute_capability = on_gpu ? model::capability_of(verdict.device) : 0});
    if (variant && kernel_.cut)
      *variant += kWholeFile + *request_.snapshot->text;
    return variant;
  }

  std::map<std::string, model::Outcome> told_; ///< by the plan's hash
  const OptimizeRequest &request_;
  const analysis::Kernel &kernel_;
  const std::string hash_;
  const OptimizeEvents &events_;
  const ModulePolicy *policy_;
};

OptimizeSummary summary_of(const TorchOutcome &outcome) {
  OptimizeSummary summary;
  for (const search::TorchVariant &variant : outcome.variants)
    if (is_from_runner(variant.verdict)) {
      ++summary.tried;
      summary.verified += variant.verdict.outcome == model::Outcome::Verified;
    }
  if (!outcome.best)
    return summary;
  const model::Verdict &best =
      outcome.final_verdict ? *outcome.final_verdict : outcome.variants[*outcome.best].verdict;
  summary.keep = keep_text(best);
  if (is_faster(best) && summary.keep.empty())
    summary.best = best.speedup;
  return summary;
}

} // namespace

ModuleProblem problem_of(const Error &error) {
  const std::string text = describe(error);
  ModuleProblem problem{"torch-trace", text, line_in(error.message)};
  if (has_any(text, {"no torch", "No module named 'torch'", "name an interpreter", "Name a Python",
                     "A Python that has torch"}))
    problem = {"torch-missing",
               text +
                   ". For a runner on this machine set warpwright.python in the editor, python in "
                   ".warpwright.toml, or WARPWRIGHT_PYTHON",
               std::nullopt};
  else if (has_any(text, {"depends on data", "depend on data"}))
    problem.rule = "torch-data-dependent";
  else if (text.starts_with("the task's reference"))
    problem.rule = "torch-reference";
  return problem;
}

Result<std::string> module_variant_text(const TorchTask &traced, const model::Plan &plan,
                                        const model::Verdict &verdict) {
  const std::string &module = traced.task.module->model;
  const bool on_gpu = verdict.device.kind == "cuda";
  ModelText text{.class_name = module + "New",
                 .comment = measured_comment(verdict, {}),
                 .device = on_gpu ? verified_device(verdict.device) : VerifiedDevice{},
                 .patterns = traced.patterns,
                 .plan_file = plan_file_name(module, plan)};
  std::string result;
  for (const bool standalone : {false, true}) {
    text.standalone = standalone;
    const auto addition = write_addition(traced.task, traced.graph, plan, text);
    if (!addition)
      return std::unexpected(addition.error());
    result += analysis::variant_block(
        {module, model::hash(plan).substr(0, kShortHash), addition->decorator, addition->subclass});
    if (!standalone)
      result += kPart + addition->plan_file + kPart;
  }
  return result;
}

Result<std::vector<TextEdit>> module_variant_edits(const std::string &text,
                                                   const runner::LedgerEntry &entry,
                                                   const VariantForm &form) {
  if (entry.task.module && entry.task.module->language == "cpp") {
    if (entry.variant_text.empty())
      return fail("the variant of '" + entry.kernel + "' could not be written as C++",
                  "Its plan has a step that C++ cannot spell; optimize again for another");
    const std::size_t end = entry.variant_text.find(kWholeFile);
    return end == std::string::npos
               ? cpp_variant_edits(entry.task.module->source, entry.variant_text, text)
               : cpp_variant_edits(entry.variant_text.substr(end + 1),
                                   entry.variant_text.substr(0, end), text);
  }
  const auto variant = analysis::appended_variant(block_of(entry, form), entry.kernel);
  if (!variant)
    return fail("the variant of '" + entry.kernel + "' could not be written as Python",
                "Its plan has a step that Python cannot spell; optimize again for another");
  const auto changed = form.in_place ? analysis::with_variant_in_place(text, *variant)
                                     : analysis::with_variant_appended(text, *variant);
  if (!changed)
    return std::unexpected(changed.error());
  return diff_edits(text, *changed);
}

std::optional<PlanFile> plan_file_of(const runner::LedgerEntry &entry, const VariantForm &form) {
  const PlanFile file{plan_file_name(entry.kernel, entry.plan), part_of(entry.variant_text, 1)};
  const bool is_named = block_of(entry, form).find('"' + file.name + '"') != std::string::npos;
  return is_named ? std::optional(file) : std::nullopt;
}

namespace {

model::TorchModule module_of(const OptimizeRequest &request, const analysis::Kernel &kernel) {
  model::TorchModule module = *kernel.task.task.module;
  if (module.language == "python")
    module.mode = request.mode.value_or(module.mode);
  return module;
}

/// One search over the traced graph of the module.
struct Attempt {
  const OptimizeRequest &request;
  const analysis::Kernel &kernel;
  runner::BlockingClient &client;
  const model::DeviceInfo &device;
  const OptimizeEvents &events;
  std::stop_token stop;
  ModulePolicy *policy;

  Result<OptimizeSummary> report(const Error &error) const {
    if (events.on_problem)
      events.on_problem(problem_of(error));
    return std::unexpected(error);
  }

  Result<OptimizeSummary> with(Result<runner::TracedModule> traced) const {
    if (!traced)
      return report(traced.error());
    const std::string &file = request.snapshot->facts.path;
    const model::TorchModule module = module_of(request, kernel);
    const auto task = make_torch_task(kernel.name, file, module, *traced);
    if (!task)
      return report(task.error());
    Trial trial(request, kernel, events, policy);
    TorchLimits limits;
    limits.search.max_variants = request.settings.max_variants;
    limits.search.budget = request.settings.budget;
    limits.policy = policy;
    runner::VerifyOptions verify;
    verify.device = request.settings.device;
    verify.timeout = kJobTimeout;
    const TorchEvents torch_events{[&](const search::TorchVariant &variant, std::size_t) {
                                     trial.take(*task, variant.proposal.built.plan,
                                                variant.verdict);
                                   },
                                   events.on_stage};
    const TorchOutcome outcome =
        optimize_torch_module(kernel.name, file, module, std::move(traced), client, device, verify,
                              limits, torch_events, stop);
    if (outcome.best)
      tell_best(*task, outcome, verify, trial);
    for (const search::TorchVariant &variant : outcome.variants)
      trial.correct(*task, variant.proposal.built.plan, variant.verdict);
    if (outcome.best)
      return told(summary_of(outcome));
    if (const auto fault = fault_of_reference(outcome))
      return report(*fault);
    if (outcome.error)
      return std::unexpected(*outcome.error);
    return told(summary_of(outcome));
  }

  /// Reports the best variant's final measurement; verifies it in the other mode too if forward does the same there.
  void tell_best(TorchTask task, const TorchOutcome &outcome, const runner::VerifyOptions &verify,
                 Trial &trial) const {
    const search::TorchVariant &best = outcome.variants[*outcome.best];
    const bool both = is_right_as_made(task, best.proposal.built.plan, verify);
    if (outcome.final_verdict || both)
      trial.take(task, best.proposal.built.plan,
                 outcome.final_verdict ? *outcome.final_verdict : best.verdict);
  }

  /// True if a plan for a module in evaluation mode is also right for the module as made; its guards then say so.
  bool is_right_as_made(TorchTask &task, const model::Plan &plan,
                        runner::VerifyOptions verify) const {
    model::TorchModule &module = *task.task.module;
    if (task.patterns.guards.empty() || module.mode != model::ModuleMode::Eval ||
        stop.stop_requested())
      return false;
    model::TorchModule made = module;
    made.mode = model::ModuleMode::AsMade;
    if (events.on_stage)
      events.on_stage("verifying in the other mode");
    auto traced = client.trace(made);
    if (!traced || traced->graph != task.graph || traced->guards.empty() ||
        traced->guards == task.patterns.guards.front())
      return false;
    model::Task other = task.task;
    other.module = std::move(made);
    verify.measure = false;
    const auto verdict = client.verify(other, plan, verify, stop, events.on_stage);
    if (!verdict || verdict->outcome != model::Outcome::Verified)
      return false;
    task.patterns.guards.push_back(std::move(traced->guards));
    return true;
  }

  OptimizeSummary told(OptimizeSummary summary) const {
    if (policy) {
      summary.policy = policy->described;
      summary.analysis = policy->analysis;
    }
    return summary;
  }
};

} // namespace

Result<OptimizeSummary> optimize_module(const OptimizeRequest &request,
                                        runner::BlockingClient &client,
                                        const OptimizeEvents &events, std::stop_token stop,
                                        ModulePolicy *policy) {
  const analysis::Kernel *kernel = request.snapshot->find_kernel(request.kernel);
  if (!kernel || !kernel->task.task.module)
    return fail("there is no module '" + request.kernel + "' in " + request.snapshot->facts.path);
  if (!kernel->task.inferred)
    return fail("it is not known what '" + kernel->name + "' is called with",
                "Use the code action 'Insert the facts that Warpwright needs above " +
                    kernel->name + "'");
  if (!kernel->slice_error.empty())
    return fail("'" + kernel->name + "' cannot be sent to a runner: " + kernel->slice_error);
  const auto info = client.info();
  if (!info)
    return std::unexpected(info.error());
  const auto device = runner::choose_device(*info, request.settings.device);
  if (!device)
    return std::unexpected(device.error());
  const Attempt attempt{request, *kernel, client, *device, events, stop, policy};
  if (events.on_stage)
    events.on_stage("tracing");
  auto traced = client.trace(module_of(request, *kernel));
  if (stop.stop_requested())
    return OptimizeSummary{};
  return attempt.with(std::move(traced));
}

} // namespace warpwright::server
