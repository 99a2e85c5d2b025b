#include "server/kernelbench/candidate_run.h"

#include "server/kernelbench/bench_run.h"
#include "support/model/json.h"
#include "support/model/verdict_text.h"

namespace warpwright::server {
namespace {

using State = BenchResult::State;

model::Plan plan_of(const CandidateAnswer &answer) {
  model::Plan plan;
  plan.steps.push_back(model::ModuleStep{.source = answer.source, .model = answer.model});
  plan.moves = {"another system's module (host code)"};
  return plan;
}

/// Copies the runner's check of loaded parameters, which is reported beside the outcome.
void note_parameters(const model::Verdict &verdict, BenchResult &result) {
  for (const model::Check &check : verdict.checks)
    if (check.name == "other parameters loaded into it" && !check.passed) {
      result.constructor_only = true;
      result.reason += (result.reason.empty() ? "" : "; ") +
                       std::string("right only with the parameters that its constructor makes: ") +
                       check.detail;
    }
}

} // namespace

void take_verdict(const model::Verdict &verdict, BenchResult &result) {
  result.date = verdict.date;
  result.device = verdict.device;
  result.plan_hash = verdict.plan_hash;
  ++result.outcomes[std::string(model::name(verdict.outcome))];
  if (verdict.outcome == model::Outcome::Verified) {
    take_verified(verdict, result);
    note_parameters(verdict, result);
    return;
  }
  result.state = model::blames_reference(verdict) ? State::Skipped : State::NoCandidate;
  result.reason = std::string(model::name(verdict.outcome)) + ": " + verdict.message;
}

BenchResult judge_candidate(const BenchTask &task, const CandidateAnswer *answer,
                            Result<runner::TracedModule> traced, runner::BlockingClient &client,
                            runner::VerifyOptions options, std::stop_token stop,
                            const std::function<void(const std::string &)> &on_stage) {
  BenchResult result{.id = task.id, .name = task.name, .level = task.level};
  result.host_code = true;
  if (!answer) {
    result.reason = "there is no answer to it";
    return result;
  }
  auto made = traced
                  ? make_torch_task(task.name, task.id, {.source = task.source}, std::move(*traced))
                  : Result<TorchTask>(std::unexpected(traced.error()));
  if (!made) {
    result.state = State::Skipped;
    result.reason = describe(made.error());
    return result;
  }
  const model::Plan plan = plan_of(*answer);
  result.moves = plan.moves;
  options.host_code = true;
  const auto verdict = client.verify(made->task, plan, options, std::move(stop), on_stage);
  if (verdict) {
    take_verdict(*verdict, result);
    return result;
  }
  result.state = State::Failed;
  result.reason = describe(verdict.error());
  return result;
}

} // namespace warpwright::server
