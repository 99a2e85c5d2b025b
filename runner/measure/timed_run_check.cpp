// Copies of timed outputs, the second look at them, and the comparison.
#include "runner/measure/timed_run_check.h"
#include "runner/verify/output_judge.h"

namespace warpwright::runner {

using model::Direction;
using model::Outcome;

DeviceResult<void> TimedRunCheck::prepare() {
  for (SavedOutputs &outputs : saved_)
    if (outputs.copies.empty())
      TRY(outputs.allocate(job_, set_.buffers));
  return {};
}

DeviceResult<void> TimedRunCheck::after_run(std::size_t side) {
  TRY(saved_[side].copy(job_, set_.buffers));
  if (side != kCandidateSide)
    return {};
  auto late = TRY(find_late_writes());
  if (late)
    failure_ = Failure{Outcome::SuspectedCheat, "nothing runs after the clock stops", *late};
  auto damage = TRY(set_.buffers.find_damage(job_, kPoisons[0]));
  auto changed = TRY(set_.buffers.find_changed_input(job_));
  if (damage && !failure_)
    failure_ = Failure{Outcome::SuspectedCheat, "guard regions untouched",
                       "a timed run of the candidate " + *damage};
  if (changed && !failure_)
    failure_ = Failure{Outcome::SuspectedCheat, "inputs unchanged",
                       "a timed run of the candidate " + *changed};
  return {};
}

DeviceResult<std::optional<std::string>> TimedRunCheck::find_late_writes() {
  for (const auto &[name, copy] : saved_[kCandidateSide].copies) {
    const BoundBuffer &live = set_.buffers.bound().at(name);
    if (live.elements == 0)
      continue;
    auto before = TRY(job_.checker.survey(type_code(live.dtype), copy.address(), live.elements));
    auto after = TRY(job_.checker.survey(type_code(live.dtype), live.address, live.elements));
    if (before.digest != after.digest)
      return name + " still changed after the timed run of the candidate had ended";
  }
  return std::nullopt;
}

DeviceResult<std::optional<Failure>> TimedRunCheck::judge() {
  if (failure_)
    return failure_;
  const AddressOf candidate = saved_of(kCandidateSide), reference = saved_of(kReferenceSide);
  auto wrong = find_wrong(candidate, reference, nullptr);
  if (!wrong)
    return std::unexpected(wrong.error());
  if (!*wrong)
    return std::nullopt;
  auto exact = TRY(run_exact(job_, set_.buffers.drawing()));
  if (exact.outputs)
    wrong = find_wrong(candidate, reference, &*exact.outputs);
  if (!wrong)
    return std::unexpected(wrong.error());
  if (!*wrong)
    return std::nullopt;
  auto failure = TRY(explain(**wrong));
  return failure;
}

DeviceResult<std::optional<std::string>> TimedRunCheck::find_wrong(const AddressOf &got,
                                                                   const AddressOf &expected,
                                                                   const ExactOutputs *exact) {
  for (const model::Buffer &buffer : job_.task.buffers) {
    const BoundBuffer &bound = set_.buffers.bound().at(buffer.name);
    if (!job_.judges(buffer) || bound.elements == 0)
      continue;
    const Address one = got(buffer.name), other = expected(buffer.name);
    OutputRuns runs{
        .candidate = {one, one}, .reference = {other, other}, .elements = bound.elements};
    if (exact)
      runs.exact = exact->at(buffer.name);
    auto judgement = TRY(judge_output(job_, set_.buffers.drawing(), buffer, runs, false));
    const element::Findings &found = judgement.findings;
    if (found.wrong > 0)
      return std::to_string(found.wrong) + " wrong elements in " + buffer.name + ", the first is " +
             buffer.name + "[" + std::to_string(found.first_wrong) + "]";
  }
  return std::nullopt;
}

TimedRunCheck::AddressOf TimedRunCheck::saved_of(std::size_t side) const {
  return [&copies = saved_[side].copies](const std::string &name) {
    return copies.at(name).address();
  };
}

DeviceResult<std::optional<std::string>> TimedRunCheck::find_reference_drift() {
  auto fresh = TRY(BufferSet::make(job_, set_.buffers.drawing()));
  job_.enter("measuring", "running the reference afresh", Side::Reference);
  TRY(fresh.use_temporaries_of(job_, job_.task.reference));
  auto ran = TRY(run_once(job_, fresh, job_.task.reference, job_.plans.reference, kPoisons[0]));
  if (ran)
    return ran->message;
  job_.enter("measuring", "comparing", Side::Nobody);
  return find_wrong(
      saved_of(kReferenceSide),
      [&](const std::string &name) { return fresh.bound().at(name).address; }, nullptr);
}

DeviceResult<Failure> TimedRunCheck::explain(const std::string &wrong) {
  job_.enter("measuring", "running the candidate afresh", Side::Candidate);
  job_.plans.candidate = TRY(compile_plan(job_.device, job_.candidate));
  auto trial = TRY(run_trial(job_, set_.buffers.drawing()));
  if (trial.failure)
    return *trial.failure;
  auto differs = TRY(find_reference_drift());
  if (differs)
    return Failure{Outcome::Unsupported, "the module is a reference",
                   "the task's reference: a timed run of it left " + *differs +
                       ", other than when it runs afresh on the same inputs: its result depends on "
                       "earlier runs"};
  return Failure{Outcome::SuspectedCheat, "right while timed",
                 "a timed run of the candidate left " + wrong +
                     ", although it is right on the same inputs when its module is loaded again: "
                     "its result depends on earlier runs"};
}

} // namespace warpwright::runner
