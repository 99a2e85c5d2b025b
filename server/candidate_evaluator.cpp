#include "server/candidate_evaluator.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::server {
namespace {

constexpr int kLossesInARow = 3;

} // namespace

model::Verdict CandidateEvaluator::evaluate(const model::Task &task, const model::Plan &plan,
                                            std::stop_token stop,
                                            const runner::Client::StageCallback &on_stage,
                                            const std::function<void(const Error &)> &on_loss) {
  auto verdict = client_.verify(task, plan, options_, stop, on_stage);
  if (verdict) {
    losses_in_a_row_ = 0;
    remember(*verdict);
    return *verdict;
  }
  if (!stop.stop_requested()) {
    if (on_loss)
      on_loss(verdict.error());
    if (++losses_in_a_row_ >= kLossesInARow) {
      failure_ = Error{"the runner was lost " + std::to_string(kLossesInARow) +
                           " times in a row: " + verdict.error().message,
                       verdict.error().remedy};
      give_up_.request_stop();
    }
  }
  model::Verdict lost;
  lost.outcome = model::Outcome::Crash;
  lost.message = describe(verdict.error());
  lost.task_hash = model::hash(task);
  lost.plan_hash = model::hash(plan);
  return lost;
}

void CandidateEvaluator::remember(const model::Verdict &verdict) {
  if (verdict.outcome == model::Outcome::Verified && verdict.speedup)
    options_.best_known_speedup =
        std::max(options_.best_known_speedup.value_or(1), verdict.speedup->ratio);
}

} // namespace warpwright::server
