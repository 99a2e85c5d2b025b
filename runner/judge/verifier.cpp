// Verification steps in order; the first failure ends the verification, and its sentence is the verdict's message.
#include "runner/judge/verifier.h"
#include "runner/verify/controls.h"
#include "runner/verify/drawings.h"
#include "runner/verify/hidden_sizes.h"
#include "runner/verify/loaded_parameters.h"
#include "runner/verify/main_sizes.h"
#include "runner/judge/measuring_step.h"
#include "runner/verify/plan_run.h"
#include "runner/verify/reference_probe.h"
#include "runner/verify/reference_problems.h"
#include "runner/verify/torch_operations.h"
#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>
#include <random>
#include <sstream>

namespace warpwright::runner {
namespace {

using model::Direction;
using model::Outcome;

/// Checks of every trial, in the verdict's order.
constexpr const char *kTrialChecks[] = {
    "guard regions untouched", "inputs unchanged",      "every output element written",
    "nothing else written",    "matches the reference", "accuracy against fp64",
    "same result twice"};
constexpr const char *kWideCheck = "rows of different magnitude";
constexpr const char *kConditionCheck = "well-conditioned";

Outcome outcome_of(const Fault &fault, Side side) {
  if (side == Side::Reference)
    return Outcome::Unsupported;
  switch (fault.kind) {
  case Fault::Kind::CompileFailed:
    return Outcome::CompileFailed;
  case Fault::Kind::BadLaunch:
    return Outcome::WrongResult;
  case Fault::Kind::Crash:
    return Outcome::Crash;
  case Fault::Kind::Timeout:
    return Outcome::Timeout;
  case Fault::Kind::Suspected:
    return Outcome::SuspectedCheat;
  default:
    return Outcome::Unsupported;
  }
}

std::vector<model::CompileReport> reports_of(const CompiledPlan &compiled) {
  return compiled.program ? compiled.program->reports() : std::vector<model::CompileReport>{};
}

std::string describe(const model::Conditioning &conditioning) {
  std::ostringstream text;
  text.precision(2);
  text << "rounding of the inputs alone moves " << conditioning.output << " by up to "
       << conditioning.spread << " of its size; the reference is off by " << conditioning.reference
       << " and the candidate by " << conditioning.candidate << ", allowed "
       << conditioning.allowed;
  return text.str();
}

class Verification {
public:
  Verification(Device &device, Checker &checker, const model::Task &task,
               const model::Plan &candidate, const VerifySettings &settings, const StageSink &sink,
               model::Verdict &verdict)
      : job_(device, checker, task, candidate, sink), settings_(settings), verdict_(verdict),
        random_(settings.seed ? settings.seed : std::random_device{}()) {
    job_.spares_exact = task.module && !settings.thorough;
  }

  /// Fills the verdict; returns the fault that ended it, if any.
  std::optional<Fault> run() {
    for (auto step :
         {&Verification::compile, &Verification::load_module, &Verification::try_drawings,
          &Verification::check_kernels, &Verification::try_hidden_sizes, &Verification::time_it}) {
      auto passed = (this->*step)();
      if (!passed)
        return fail_with(passed.error());
      if (!*passed)
        return std::nullopt;
    }
    succeed();
    return std::nullopt;
  }

private:
  /// True: continue; false: the verdict is complete.
  using StepResult = DeviceResult<bool>;

  StepResult compile() {
    job_.enter("compiling", "compiling the candidate", Side::Candidate);
    job_.plans.candidate = TRY(compile_plan(job_.device, job_.candidate));
    verdict_.kernels = reports_of(job_.plans.candidate);
    job_.enter("compiling", "compiling the reference", Side::Reference);
    job_.plans.reference = TRY(compile_plan(job_.device, job_.task.reference));
    verdict_.reference_kernels = reports_of(job_.plans.reference);
    verdict_.checks.push_back({"compiles", true, ""});
    if (job_.task.reference_fp64) {
      auto exact = compile_plan(job_.device, *job_.task.reference_fp64);
      if (exact)
        job_.plans.reference_fp64 = std::move(*exact);
      else
        fp64_note_ = "the fp64 reference does not compile: " + exact.error().message;
    }
    job_.enter("compiling", "done", Side::Nobody);
    return true;
  }

  /// Loads the module of a torch task; the reference is a call of it.
  StepResult load_module() {
    if (!job_.task.module)
      return true;
    job_.enter("compiling", "loading the module", Side::Reference);
    TorchHost *torch = job_.device.torch();
    if (!torch)
      return std::unexpected(no_torch());
    TRY(torch->load(*job_.task.module));
    verdict_.checks.push_back({"the module loads", true, torch->version()});
    verdict_.framework = torch->framework();
    job_.rounds_to_tf32 =
        job_.device.info().kind == "cuda" &&
        (is_set("backends.cuda.matmul.allow_tf32") || is_set("backends.cudnn.allow_tf32"));
    job_.enter("compiling", "done", Side::Nobody);
    return true;
  }

  bool is_set(const char *flag) const {
    const auto found = verdict_.framework.find(flag);
    return found != verdict_.framework.end() && found->second == "True";
  }

  StepResult try_drawings() {
    std::vector<std::uint64_t> digests; // for the measured sizes at scale 1
    bool constant = true;
    auto main = TRY(choose_main_sizes(job_, random_));
    if (main.failure) {
      conclude(*main.failure);
      return false;
    }
    main_sizes_ = std::move(main.sizes);
    sizes_note_ = std::move(main.note);
    Controls controls(job_);
    auto all = drawings_of(job_, main_sizes_, settings_.thorough, random_);
    tried_misaligned_ = std::ranges::any_of(all, &Drawing::misaligned);
    for (Drawing &drawing : all) {
      auto skipped = TRY(is_skipped(drawing));
      if (skipped)
        continue;
      auto stranger = TRY(is_no_home(drawing));
      if (stranger)
        continue;
      const bool is_usual = drawing.sizes == main_sizes_ && !drawing.misaligned &&
                            !drawing.wide_rows_of && !job_.host_code();
      auto trial = run_trial(job_, drawing, is_usual ? &controls : nullptr);
      if (!trial) {
        if (drawing.misaligned && job_.running() == Side::Candidate)
          trial.error().message +=
              "; buffers were one element off alignment, which the reference tolerates: check the "
              "address before vector accesses";
        return std::unexpected(trial.error());
      }
      if (trial->failure && trial->failure->outcome == Outcome::WrongResult && !job_.task.module)
        TRY(ask_reference(drawing, *trial->failure));
      if (drawing.wide_rows_of)
        note_wide_rows(drawing, *trial);
      if (!absorb(*trial, drawing.scale == 1))
        return false;
      // The first trial showed the module's own error. A candidate that agrees with the module is right in other
      // drawings, too.
      job_.spares_exact = job_.task.module.has_value();
      if (drawing.sizes == main_sizes_ && drawing.scale == 1 && !drawing.misaligned &&
          !drawing.varied) {
        digests.push_back(trial->digest);
        constant = constant && trial->constant_output;
      }
    }
    for (const char *check : kTrialChecks)
      if (std::string_view(check) != "accuracy against fp64" || verdict_.errors.candidate_fp64)
        verdict_.checks.push_back({check, true, ""});
    verdict_.checks.push_back({"buffers off alignment", true,
                               tried_misaligned_ ? ""
                               : job_.task.module
                                   ? "not tried: torch aligns its tensors"
                                   : "not tried: the reference itself relies on alignment"});
    if (job_.host_code()) {
      auto loaded = TRY(try_loaded_parameters(job_, random_() >> 40));
      if (loaded)
        verdict_.checks.push_back(*loaded);
    }
    if (!wide_note_.empty())
      verdict_.checks.push_back({kWideCheck, true, wide_note_});
    if (!scales_note_.empty())
      verdict_.checks.push_back({"inputs of other magnitudes", true, scales_note_});
    if (!sizes_note_.empty())
      verdict_.checks.push_back({"sizes", true, sizes_note_});
    if (job_.task.module && !settings_.thorough)
      verdict_.checks.push_back({"every drawing", true, "the request is for one drawing"});
    else
      note_degenerate(digests, constant);
    note_controls(controls);
    if (has_degenerate_check_)
      verdict_.checks.push_back({"the task is not degenerate", degenerate_.empty(), degenerate_});
    return true;
  }

  /// True if scaled inputs are skipped because the reference does not work on them.
  DeviceResult<bool> is_skipped(const Drawing &drawing) {
    if (drawing.wide_rows_of)
      return is_no_home_of_wide_rows(drawing);
    if (!job_.task.module || drawing.scale == 1)
      return false;
    auto problem = TRY(try_reference(job_, drawing));
    if (problem)
      scales_note_ += (scales_note_.empty() ? "not tried: " : "; ") + problem->message;
    return problem.has_value();
  }

  DeviceResult<bool> is_no_home_of_wide_rows(const Drawing &drawing) {
    std::optional<std::string> reason;
    if (job_.task.module) {
      auto problem = TRY(try_reference(job_, drawing));
      if (problem)
        reason = problem->message;
    } else if (may_loop_on_values(job_.task.reference.source)) {
      reason = "the reference has loops that may depend on values";
    }
    if (reason)
      add_wide_note(drawing, "not tried: " + *reason);
    return reason.has_value();
  }

  void note_wide_rows(const Drawing &drawing, TrialResult &trial) {
    if (trial.failure && trial.failure->outcome == Outcome::Unsupported) { // the reference's own
      trial.not_judged = trial.failure->message;
      trial.failure.reset();
    }
    add_wide_note(drawing, trial.not_judged ? "not judged: " + *trial.not_judged : "judged");
    if (trial.failure && (trial.failure->check == "accuracy against fp64" ||
                          trial.failure->check == "matches the reference"))
      trial.failure->check = kWideCheck;
    trial.errors = {}; // errors count only for inputs as the task draws them
  }

  void add_wide_note(const Drawing &drawing, const std::string &what) {
    wide_note_ += (wide_note_.empty() ? "" : "; ") + job_.task.buffers[*drawing.wide_rows_of].name +
                  ": " + what;
  }

  /// True if the reference does not work at a drawing's small sizes, which are drawn without regard to the program's
  /// needs (multiples of a vector, a least row). A misaligned drawing gets the main sizes instead.
  DeviceResult<bool> is_no_home(Drawing &drawing) {
    if (job_.task.module || drawing.sizes == main_sizes_)
      return false;
    auto reason = TRY(probe_reference(job_, drawing, true));
    if (reason && drawing.misaligned) {
      drawing.sizes = main_sizes_;
      return false;
    }
    if (reason)
      sizes_note_ += (sizes_note_.empty() ? "not at " : "; not at ") +
                     symbolic::describe_sizes(drawing.sizes) + ": the reference " + *reason;
    return reason.has_value();
  }

  /// Asks the reference who is to blame, since its own race or uninitialized memory looks like the candidate's error.
  DeviceResult<void> ask_reference(const Drawing &drawing, Failure &failure) {
    auto reason = TRY(probe_reference(job_, drawing, true));
    if (reason)
      failure = {Outcome::Unsupported, "the kernel is a reference",
                 "the kernel itself " + *reason + " (" + drawing.text() +
                     "): does it have a race, or read memory that was never written?"};
    return {};
  }

  /// Adds a trial's numbers to the verdict. False: the trial failed, and the verdict is complete.
  /// @param as_drawn false: the inputs have another magnitude than the task's, at which its result
  /// may be 0
  bool absorb(const TrialResult &trial, bool as_drawn) {
    keep_larger(verdict_.errors, trial.errors);
    if (trial.fp64_note)
      fp64_note_ = *trial.fp64_note;
    if (trial.only_noise && as_drawn && degenerate_.empty())
      degenerate_ = "the reference's output is rounding error, around what does not depend on its "
                    "inputs or magnified until it decides";
    if (trial.conditioning &&
        (!verdict_.conditioning || trial.conditioning->spread > verdict_.conditioning->spread))
      verdict_.conditioning = trial.conditioning;
    if (!trial.failure)
      return true;
    conclude(*trial.failure);
    return false;
  }

  void conclude(const Failure &failure) {
    verdict_.outcome = failure.outcome;
    verdict_.message = failure.message;
    verdict_.checks.push_back({failure.check, false, failure.message});
  }

  void note_degenerate(const std::vector<std::uint64_t> &digests, bool constant) {
    const bool has_inputs = std::any_of(
        job_.task.buffers.begin(), job_.task.buffers.end(), [](const model::Buffer &buffer) {
          return buffer.direction != Direction::Out &&
                 buffer.distribution.kind != model::Distribution::Kind::Zeros;
        });
    if (!has_inputs)
      return;
    const bool independent = std::all_of(
        digests.begin(), digests.end(), [&](std::uint64_t digest) { return digest == digests[0]; });
    // The sum of one element is always constant: only an output that inputs cannot change is degenerate.
    if (independent)
      degenerate_ =
          constant
              ? "the reference's output has the same value in every element, for all inputs"
              : "the reference's output does not depend on its inputs";
    has_degenerate_check_ = true;
  }

  void note_controls(const Controls &controls) {
    const auto passed = controls.passed();
    if (!passed)
      return;
    has_degenerate_check_ = true;
    if (degenerate_.empty())
      degenerate_ = *passed;
  }

  /// Checks that the kernels of an export answered every call so far. False: the verdict is complete.
  StepResult check_kernels() {
    if (!model::is_export(job_.candidate))
      return true;
    const auto calls = TRY(job_.device.torch()->kernel_calls());
    std::string reasons;
    std::int64_t fallbacks = 0;
    for (const auto &[why, count] : calls.fallbacks) {
      fallbacks += count;
      reasons += (reasons.empty() ? "" : "; ") + why + " (" + std::to_string(count) + ")";
    }
    if (fallbacks == 0 && calls.runs > 0) {
      kernels_note_ = "in each of " + std::to_string(calls.runs) + " calls, no fallback";
      return true;
    }
    conclude({Outcome::Unsupported, model::kKernelsCheck,
              "its kernels ran in " + std::to_string(calls.runs) + " of " +
                  std::to_string(calls.runs + fallbacks) +
                  " calls, the module's own forward in the others: " +
                  (reasons.empty() ? "no call was counted" : reasons)});
    take_speedups_back();
    return false;
  }

  StepResult try_hidden_sizes() {
    if (!settings_.hidden_sizes)
      return true;
    if (job_.task.module) {
      verdict_.checks.push_back(
          {kHiddenCheck, true,
           "none: the module was traced at these shapes, and is measured there"});
      return true;
    }
    auto trials = TRY(run_hidden_trials(job_, random_));
    for (const TrialResult &result : trials.results)
      if (!absorb(result, true))
        return false;
    verdict_.checks.push_back({kHiddenCheck, true, trials.text});
    return true;
  }

  StepResult time_it() {
    if (!settings_.measure || !job_.device.capabilities().can_measure)
      return true;
    MeasureSettings settings;
    // Host code gets inputs and gives outputs through another process's memory, outside of the timed part.
    settings.limits.budget = settings_.measure_budget * (job_.host_code() ? 3 : 1);
    settings.seed = random_();
    std::vector<Sample> reference_samples;
    auto failure = measure_and_check(job_, settings, settings_.thorough, random_, verdict_,
                                     reference_samples);
    if (!failure)
      return std::unexpected(failure.error());
    if (*failure)
      conclude(**failure);
    if (*failure || !degenerate_.empty())
      take_speedups_back();
    if (!*failure && job_.task.module && degenerate_.empty()) {
      settings.seed = random_();
      TRY(measure_baselines(job_, settings, settings_.baselines, random_, verdict_));
    }
    if (!*failure && !TRY(check_kernels()))
      return false;
    if (!*failure && job_.host_code()) {
      failure = check_reference_alone(job_, settings, reference_samples, verdict_);
      if (!failure)
        return std::unexpected(failure.error());
      if (*failure) {
        conclude(**failure);
        take_speedups_back();
      }
    }
    return !*failure;
  }

  void take_speedups_back() {
    verdict_.baselines.clear();
    verdict_.speedup.reset();
    verdict_.as_called.reset();
  }

  void succeed() {
    verdict_.outcome = Outcome::Verified;
    if (!kernels_note_.empty())
      verdict_.checks.push_back({model::kKernelsCheck, true, kernels_note_});
    verdict_.message = "correct by every check";
    if (verdict_.speedup || verdict_.as_called)
      verdict_.message += ", and measured";
    else if (!degenerate_.empty())
      verdict_.message +=
          "; it gets no speedup, because the task is degenerate: " + degenerate_;
    else if (job_.device.info().kind == "cpu")
      verdict_.message += " on the CPU backend, which says nothing about GPU speed";
    if (verdict_.conditioning) {
      const std::string text = describe(*verdict_.conditioning);
      verdict_.checks.push_back({kConditionCheck, false, text});
      verdict_.message += "; ill-conditioned: " + text;
    }
    if (!fp64_note_.empty())
      verdict_.checks.push_back({"fp64 reference", true, fp64_note_});
  }

  std::optional<Fault> fail_with(const Fault &fault) {
    const Side side = job_.running();
    verdict_.outcome = outcome_of(fault, side);
    verdict_.message = (side == Side::Reference   ? "the task's reference: "
                        : side == Side::Candidate ? ""
                                                  : "the runner: ") +
                       fault.message;
    take_speedups_back();
    const bool is_compile = fault.kind == Fault::Kind::CompileFailed;
    verdict_.checks.push_back({is_compile ? "compiles" : "runs", false, fault.message});
    if (is_compile && side == Side::Candidate && verdict_.kernels.empty())
      verdict_.kernels.push_back({.kernel = first_kernel(), .log = fault.log});
    return fault;
  }

  std::string first_kernel() const {
    for (const model::Step &step : job_.candidate.steps)
      if (const auto *launch = std::get_if<model::LaunchStep>(&step))
        return launch->kernel;
    return "";
  }

  Job job_;
  const VerifySettings &settings_;
  model::Verdict &verdict_;
  std::mt19937_64 random_;
  bool tried_misaligned_ = false;
  bool has_degenerate_check_ = false;
  std::string kernels_note_; ///< of an export: calls that its kernels answered
  std::string degenerate_, fp64_note_, sizes_note_, scales_note_, wide_note_;
  symbolic::Sizes main_sizes_; ///< sizes of most drawings
};

} // namespace

VerifyResult verify(Device &device, const model::Task &task, const model::Plan &candidate,
                    const VerifySettings &settings, const StageSink &sink) {
  VerifyResult result;
  model::Verdict &verdict = result.verdict;
  verdict.device = device.info();
  verdict.date = utc_now();
  verdict.task_hash = model::hash(task);
  verdict.plan_hash = model::hash(candidate);
  if (auto checked = model::check_plan(candidate, task); !checked) {
    verdict.outcome = Outcome::WrongResult;
    verdict.message = "the plan does not fit the task: " + describe(checked.error());
    verdict.checks.push_back({"fits the task", false, describe(checked.error())});
    return result;
  }
  verdict.host_code = model::is_host_code(candidate);
  if (verdict.host_code && !settings.host_code) {
    verdict.message =
        "the candidate is host code, which the request does not permit: set host_code";
    return result;
  }
  auto checker = make_checker(device);
  if (!checker) {
    verdict.message = checker.error().message;
    result.device_lost = checker.error().device_lost;
    return result;
  }
  if (auto ended = Verification(device, **checker, task, candidate, settings, sink, verdict).run())
    result.device_lost = ended->device_lost;
  return result;
}

} // namespace warpwright::runner
