// Measuring step. After timing, the candidate is verified twice: in the timed module, whose variables hold what the
// runs left, and in a newly loaded one.
#include "runner/judge/measuring_step.h"
#include "runner/measure/evidence.h"
#include "runner/measure/host_clock.h"
#include "runner/measure/roofline.h"
#include "runner/verify/drawings.h"
#include "runner/verify/plan_run.h"
#include "runner/verify/reference_problems.h"
#include "support/model/verify_options.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

using model::Direction;
using model::Outcome;

/// Adds the occupancy of each kernel's first launch at the measured sizes, since occupancy depends on the launch shape.
void add_occupancy(Job &job, model::Verdict &verdict) {
  auto set = BufferSet::make(job, {job.task.sizes, 1, 1, false});
  for (auto [plan, compiled, reports] :
       {std::tuple{&job.candidate, &job.plans.candidate, &verdict.kernels},
        std::tuple{&job.task.reference, &job.plans.reference, &verdict.reference_kernels}}) {
    if (!set || !set->use_temporaries_of(job, *plan))
      return;
    auto operations =
        bind_plan(*plan, *compiled, job.task, job.task.sizes, set->bound(), job.device.torch());
    if (!operations)
      return;
    for (const Operation &operation : *operations)
      if (const auto *launch = std::get_if<LaunchOperation>(&operation))
        if (model::CompileReport &report = (*reports)[launch->kernel]; !report.occupancy)
          report.occupancy = job.device.occupancy(*launch);
  }
}

double output_bytes(const model::Task &task) {
  double bytes = 0;
  for (const model::Buffer &buffer : task.buffers)
    if (buffer.direction != Direction::In)
      bytes += static_cast<double>(buffer.extent.evaluate(task.sizes).value_or(0)) *
               static_cast<double>(model::size_bytes(buffer.dtype));
  return bytes;
}

/// Names cache hints, which have fooled timers; the flush before each sample writes with the strongest and removes
/// their effect.
std::string cache_hints(const std::string &source) {
  std::string found;
  for (const char *hint : {"evict_last", "createpolicy", "access_property", "applypriority"})
    if (source.find(hint) != std::string::npos)
      found += (found.empty() ? "the candidate's source has " : ", ") + std::string(hint);
  return found;
}

void take_numbers(const Job &job, const Measurement &measured, model::Verdict &verdict) {
  verdict.checks.push_back(
      {"right while timed", true,
       std::to_string(measured.verified_samples) +
           " timed runs were verified; inputs were drawn again before every pair, before " +
           std::to_string(measured.partly_redrawn) + " in part; modules were loaded " +
           std::to_string(measured.loads) + " times"});
  verdict.checks.push_back({"nothing runs after the clock stops", true, ""});
  if (!measured.host_check.empty())
    verdict.checks.push_back({kHostClockCheck, true, measured.host_check});
  if (!measured.why_less.empty())
    verdict.checks.push_back({"the same speedup under other conditions", false, measured.why_less});
  if (const std::string hints = cache_hints(job.candidate.source); !hints.empty())
    verdict.checks.push_back({"hints to the L2", true, hints});
  verdict.reference_time = measured.reference_time;
  verdict.candidate_time = measured.candidate_time;
  verdict.measured_sizes = symbolic::describe_sizes(job.task.sizes);
  verdict.speedup = measured.speedup;
  verdict.as_called = measured.as_called;
  verdict.library_share = measured.library_share;
  verdict.step_ns = measured.step_ns;
  verdict.clocks = measured.clocks;
  const model::DeviceInfo &device = job.device.info();
  if (measured.reference_time && measured.candidate_time) {
    verdict.reference_evidence = evidence_of(job.task, device, *measured.reference_time);
    verdict.candidate_evidence = evidence_of(job.task, device, *measured.candidate_time);
  } else {
    verdict.checks.push_back({"device time", true, "none: " + measured.why_no_device_time});
  }
}

std::optional<Failure> refuse_impossible(const Job &job, model::Verdict &verdict) {
  if (!verdict.reference_time || !verdict.candidate_time)
    return std::nullopt;
  const RooflineResult roofline =
      check_roofline(job.task, job.device.info(), verdict.reference_time->median_ns,
                     verdict.candidate_time->median_ns, output_bytes(job.task));
  if (roofline.impossible)
    return Failure{Outcome::SuspectedCheat, kImpossibleCheck,
                   "faster than the device can be: " + roofline.detail};
  verdict.checks.push_back({kImpossibleCheck, true, roofline.detail});
  return std::nullopt;
}

DeviceResult<std::optional<Failure>> verify_again(Job &job, CompiledPlan timed, bool thorough,
                                                  std::mt19937_64 &random,
                                                  model::Verdict &verdict) {
  job.plans.candidate = std::move(timed);
  for (const bool anew : {false, true}) {
    if (anew && job.task.module && !thorough)
      continue;
    if (anew) {
      job.enter("verifying", "loading the candidate again", Side::Candidate);
      job.plans.candidate = TRY(compile_plan(job.device, job.candidate));
    }
    auto trial = TRY(run_trial(job, {job.task.sizes, random() >> 40, 1, false}));
    keep_larger(verdict.errors, trial.errors);
    if (trial.failure)
      return trial.failure;
  }
  verdict.checks.push_back({"right after timing", true,
                            job.task.module && !thorough
                                ? "by the module that was timed"
                                : "by the timed module, and by a module that was loaded again"});
  return std::nullopt;
}

/// Adds both baselines of one way to call the module.
void add_baselines(const std::string &name, const Measurement &measured, model::Verdict &verdict) {
  model::Baseline called{.name = name}, graph{.name = name + "+graph"};
  if (measured.as_called) {
    called.reference_time = measured.as_called->reference_time;
    called.candidate_time = measured.as_called->candidate_time;
    called.speedup = measured.as_called->speedup;
  } else {
    called.missing = "the budget did not suffice";
  }
  graph.reference_time = measured.reference_time;
  graph.candidate_time = measured.candidate_time;
  graph.speedup = measured.speedup;
  graph.missing = measured.why_no_device_time;
  verdict.baselines.push_back(std::move(called));
  verdict.baselines.push_back(std::move(graph));
}

void add_missing_baselines(const std::string &name, const std::string &why, bool wrong,
                           model::Verdict &verdict) {
  for (const char *ending : {"", "+graph"})
    verdict.baselines.push_back({name + ending, {}, {}, {}, why, wrong});
}

/// Runs torch.compile's work on one set of buffers, because others use the device meanwhile and need its memory.
DeviceResult<void> compile_module(Job &job) {
  auto set = TRY(BufferSet::make(job, {job.task.sizes, 1, 1, false}));
  job.enter("measuring", "torch.compile", Side::Reference);
  auto failure = TRY(run_once(job, set, job.task.reference, {}, kPoisons[0]));
  if (failure)
    return fault(Fault::Kind::Unsupported, failure->message);
  return {};
}

/// Judges a framework variant as a candidate for the task, in the drawings of a thorough verification. A drawing on
/// which the module itself does not work is left out.
/// @return how its results are wrong; nullopt: they are right
DeviceResult<std::optional<std::string>>
find_wrong_variant(const Job &job, const model::Plan &variant, std::mt19937_64 &random) {
  Job judged(job.device, job.checker, job.task, variant, job.sink());
  judged.rounds_to_tf32 = job.rounds_to_tf32;
  for (const Drawing &drawing : drawings_of(judged, job.task.sizes, true, random)) {
    if (drawing.scale != 1 || drawing.wide_rows_of) {
      auto problem = TRY(try_reference(judged, drawing));
      if (problem)
        continue;
    }
    auto trial = TRY(run_trial(judged, drawing));
    if (trial.failure && trial.failure->outcome != Outcome::Unsupported)
      return trial.failure->message;
    judged.spares_exact = true;
  }
  return std::nullopt;
}

/// Measures the candidate against the module under torch.compile, in separate pairs, by the same loop. A variant that
/// is wrong by the rules for candidates is no baseline.
DeviceResult<void> measure_compiled(Job &job, const MeasureSettings &settings,
                                    const model::CompiledVariant &variant, std::mt19937_64 &random,
                                    model::Verdict &verdict) {
  const std::string name(variant.name);
  model::Task task = job.task;
  task.reference.steps = {model::ModuleStep{.compiled = true, .mode = std::string(variant.mode)}};
  Job compiled(job.device, job.checker, task, job.candidate, job.sink());
  compiled.torch_inputs = job.torch_inputs;
  compiled.spares_exact = job.spares_exact;
  const auto measured = [&]() -> DeviceResult<std::optional<Measurement>> {
    TRY(compile_module(compiled));
    auto wrong = TRY(find_wrong_variant(job, task.reference, random));
    if (wrong) {
      add_missing_baselines(name, "its results are wrong: " + *wrong, true, verdict);
      return std::nullopt;
    }
    return TRY(measure(compiled, settings));
  }();
  job.enter("measuring", name + " done", Side::Nobody);
  if (!measured) {
    if (measured.error().device_lost)
      return std::unexpected(measured.error());
    add_missing_baselines(name, measured.error().message, false, verdict);
  } else if (*measured && (*measured)->failure) {
    add_missing_baselines(name, (*measured)->failure->message, false, verdict);
  } else if (*measured) {
    add_baselines(name, **measured, verdict);
  }
  return {};
}

} // namespace

DeviceResult<void> measure_baselines(Job &job, const MeasureSettings &settings,
                                     const std::vector<std::string> &wanted,
                                     std::mt19937_64 &random, model::Verdict &verdict) {
  for (const model::CompiledVariant &variant : model::kCompiledVariants) {
    const std::string name(variant.name);
    if (std::ranges::any_of(
            wanted, [&](const std::string &one) { return one == name || one == name + "+graph"; }))
      TRY(measure_compiled(job, settings, variant, random, verdict));
  }
  return {};
}

DeviceResult<std::optional<Failure>> measure_and_check(Job &job, const MeasureSettings &settings,
                                                       bool thorough, std::mt19937_64 &random,
                                                       model::Verdict &verdict,
                                                       std::vector<Sample> &reference_samples) {
  if (!job.host_code())
    add_occupancy(job, verdict);
  auto measured = TRY(measure(job, settings));
  verdict.discarded_samples = measured.discarded_samples;
  reference_samples = std::move(measured.reference_samples);
  if (measured.failure)
    return measured.failure;
  take_numbers(job, measured, verdict);
  if (job.task.module)
    add_baselines("eager", measured, verdict);
  if (auto failure = refuse_impossible(job, verdict))
    return failure;
  return verify_again(job, std::move(measured.candidate), thorough, random, verdict);
}

DeviceResult<std::optional<Failure>>
check_reference_alone(Job &job, const MeasureSettings &settings,
                      const std::vector<Sample> &reference_samples, model::Verdict &verdict) {
  auto alone = TRY(time_without_candidate(job, settings, !verdict.speedup, reference_samples));
  if (!alone)
    return std::nullopt;
  if (alone->slowed)
    return Failure{Outcome::SuspectedCheat, kReferenceAloneCheck,
                   "the reference took longer while the candidate's process was there: " +
                       alone->text};
  verdict.checks.push_back({kReferenceAloneCheck, true, alone->text});
  return std::nullopt;
}

} // namespace warpwright::runner
