#include "server/optimize/candidate_evaluator.h"
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
  const auto options = state_.with([](State &state) { return state.options; });
  auto verdict = client_.verify(task, plan, options, stop, on_stage);
  if (verdict) {
    remember(*verdict);
    return *verdict;
  }
  if (!stop.stop_requested()) {
    if (on_loss)
      on_loss(verdict.error());
    count_loss(verdict.error());
  }
  model::Verdict lost;
  lost.outcome = model::Outcome::Crash;
  lost.message = describe(verdict.error());
  lost.task_hash = model::hash(task);
  lost.plan_hash = model::hash(plan);
  return lost;
}

std::optional<Error> CandidateEvaluator::failure() {
  return state_.with([](State &state) { return state.failure; });
}

void CandidateEvaluator::remember(const model::Verdict &verdict) {
  state_.with([&](State &state) {
    state.losses_in_a_row = 0;
    if (verdict.outcome == model::Outcome::Verified && verdict.speedup)
      state.options.best_known_speedup =
          std::max(state.options.best_known_speedup.value_or(1), verdict.speedup->ratio);
  });
}

void CandidateEvaluator::count_loss(const Error &error) {
  state_.with([&](State &state) {
    if (++state.losses_in_a_row < kLossesInARow)
      return;
    state.failure = Error{"the runner was lost " + std::to_string(kLossesInARow) +
                              " times in a row: " + error.message,
                          error.remedy};
    give_up_.request_stop();
  });
}

} // namespace warpwright::server
