// One trial: candidate twice, reference twice, fp64 reference once, then every output compared.
//
// Both runs of a side start from the same inputs on different poisons. This reveals unwritten elements, results that
// depend on stale memory, and (by thread order on the CPU, by chance on a GPU) races.
#include "runner/verify/controls.h"
#include "runner/verify/output_judge.h"
#include "runner/verify/plan_run.h"
#include "runner/verify/reference_problems.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

using model::Direction;
using model::Outcome;

/// Runs one side twice and saves its outputs.
DeviceResult<std::optional<Failure>> run_twice(Job &job, BufferSet &set, const Drawing &drawing,
                                               Side side, SavedOutputs (&saved)[2]) {
  const bool is_candidate = side == Side::Candidate;
  const model::Plan &plan = is_candidate ? job.candidate : job.task.reference;
  const CompiledPlan &compiled = is_candidate ? job.plans.candidate : job.plans.reference;
  const std::string who = is_candidate ? "the candidate" : "the reference";
  job.enter("verifying", "running " + who + " at " + drawing.text(), side);
  TRY(set.use_temporaries_of(job, plan));
  for (int pass = 0; pass < 2; ++pass) {
    job.device.set_thread_order(pass == 0 ? ThreadOrder::Forward : ThreadOrder::Reverse);
    auto failure = run_once(job, set, plan, compiled, kPoisons[pass]);
    if (!failure)
      return failure;
    if (*failure) {
      (*failure)->message = who + " " + (*failure)->message + " (" + drawing.text() + ")";
      if (!is_candidate) // the task is wrong; the candidate cannot be judged
        (*failure)->outcome = Outcome::Unsupported;
      return failure;
    }
    TRY(saved[pass].save(job, set));
  }
  job.enter("verifying", "comparing", Side::Nobody);
  return std::nullopt;
}

/// Judges one output of both sides and adds the findings to the result.
DeviceResult<void> judge(Job &job, const Drawing &drawing, const model::Buffer &buffer,
                         SavedOutputs (&candidate)[2], SavedOutputs (&reference)[2],
                         const ExactOutputs *exact, bool compare_runs, TrialResult &result) {
  OutputRuns runs;
  for (int pass = 0; pass < 2; ++pass) {
    runs.candidate[pass] = candidate[pass].copies.at(buffer.name).address();
    runs.reference[pass] = reference[pass].copies.at(buffer.name).address();
  }
  runs.elements =
      reference[0].copies.at(buffer.name).size_bytes() / model::size_bytes(buffer.dtype);
  if (runs.elements == 0)
    return {};
  if (exact)
    runs.exact = exact->at(buffer.name);
  auto judgement = TRY(judge_output(job, drawing, buffer, runs, compare_runs));
  result.digest = element::mix(result.digest ^ judgement.survey.digest);
  result.constant_output = result.constant_output && judgement.survey.unlike_first == 0;
  if (judgement.fp64_note)
    result.fp64_note = judgement.fp64_note;
  // State may be 0 but for rounding, such as the mean of a centered norm.
  result.only_noise =
      result.only_noise || (judgement.only_noise && buffer.direction == model::Direction::Out);
  if (judgement.not_judged)
    result.not_judged = judgement.not_judged;
  if (judgement.conditioning &&
      (!result.conditioning || judgement.conditioning->spread > result.conditioning->spread))
    result.conditioning = judgement.conditioning;
  model::Errors errors;
  errors.max_absolute = judgement.findings.max_absolute;
  if (model::is_floating(buffer.dtype))
    errors.max_relative = judgement.findings.max_relative;
  if (judgement.comparison.exact) {
    errors.candidate_fp64 = judgement.findings.candidate_exact;
    errors.reference_fp64 = judgement.findings.reference_exact;
  }
  keep_larger(result.errors, errors);
  if (result.failure)
    return {};
  result.failure = TRY(failure_of(job, drawing, buffer, judgement));
  return {};
}

/// True if the plan calls code of torch or host code, whose results may differ between equal runs.
bool calls_torch(const model::Plan &plan) {
  return std::ranges::any_of(plan.steps, [](const model::Step &step) {
    return std::holds_alternative<model::AtenStep>(step) ||
           std::holds_alternative<model::ModuleStep>(step);
  });
}

DeviceResult<TrialResult> judge_all(Job &job, const Drawing &drawing, SavedOutputs (&candidate)[2],
                                    SavedOutputs (&reference)[2], const ExactRun &exact) {
  TrialResult result;
  result.fp64_note = exact.note;
  result.constant_output = true;
  const bool may_differ = uses_atomics(job.candidate.source) || calls_torch(job.candidate);
  for (const model::Buffer &buffer : job.task.buffers)
    if (job.judges(buffer))
      TRY(judge(job, drawing, buffer, candidate, reference,
                exact.outputs ? &*exact.outputs : nullptr, !may_differ, result));
  return result;
}

} // namespace

void keep_larger(model::Errors &into, const model::Errors &other) {
  for (auto member : {&model::Errors::max_absolute, &model::Errors::max_relative,
                      &model::Errors::candidate_fp64, &model::Errors::reference_fp64})
    if (other.*member && (!(into.*member) || !(*(into.*member) >= *(other.*member))))
      into.*member = other.*member;
}

DeviceResult<TrialResult> run_trial(Job &job, const Drawing &drawing, Controls *controls) {
  TrialResult result;
  auto set = TRY(BufferSet::make(job, drawing));
  SavedOutputs candidate[2], reference[2];
  for (Side side : {Side::Candidate, Side::Reference}) {
    auto failure =
        TRY(run_twice(job, set, drawing, side, side == Side::Candidate ? candidate : reference));
    if (failure) {
      result.failure = std::move(failure);
      return result;
    }
  }
  if (job.task.module) {
    auto problem = TRY(find_reference_problem(job, drawing, reference));
    if (problem) {
      result.failure = std::move(problem);
      return result;
    }
  }
  const auto with_controls = [&](DeviceResult<TrialResult> judged,
                                 const ExactRun &exact) -> DeviceResult<TrialResult> {
    if (controls && judged && !judged->failure)
      TRY(controls->judge(job, set, candidate[0], reference[0],
                          exact.outputs ? &*exact.outputs : nullptr));
    return judged;
  };
  if (job.spares_exact && !drawing.wide_rows_of) {
    auto judged = judge_all(job, drawing, candidate, reference, {});
    if (!judged || !judged->failure)
      return with_controls(std::move(judged), {});
  }
  auto exact = TRY(run_exact(job, drawing));
  auto judged = judge_all(job, drawing, candidate, reference, exact);
  if (judged && judged->failure && exact.note && judged->failure->outcome == Outcome::WrongResult)
    judged->failure->message +=
        "; float64 would tell the reference's own error, but failed: " + *exact.note;
  return with_controls(std::move(judged), exact);
}

} // namespace warpwright::runner
