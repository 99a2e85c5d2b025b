#include "trainer/stages/trials.h"

#include "support/model/json.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

constexpr int kAttempts = 8; ///< proposals for one trial

} // namespace

Result<TrialSession> TrialSession::open(const TrainingTask &task, Environment &environment,
                                        std::stop_token stop) {
  TrialSession session;
  session.task_ = &task;
  session.view_ = TRY(environment.open(task));
  auto state = environment.state(task, {});
  auto original = TRY(state ? environment.measure(task, {}, stop)
                            : Result<Measured>(std::unexpected(state.error())));
  session.view_.original = original;
  session.remember({}, state->text_hash, original);
  return session;
}

void TrialSession::remember(const Moves &moves, const std::string &text_hash,
                            const Measured &measured) {
  if (!texts_.insert(text_hash).second)
    return;
  tried_.push_back({moves, measured, {}});
  best_ = std::max(best_, score_of(measured).value_or(0));
}

Result<Trial> TrialSession::next(Policy &policy, Environment &environment,
                                 const ExemplarChoice &choice, std::mt19937_64 &random,
                                 std::stop_token stop) {
  Trial trial;
  trial.wasted = true;
  for (int i = 0; i < kAttempts && trial.wasted && !stop.stop_requested(); ++i) {
    const Context context{*task_, view_, environment.device(),
                          choose_exemplars(tried_, choice, random), tried_};
    trial.proposal = TRY(policy.propose(context, environment));
    if (trial.proposal.exhausted) {
      exhausted_ = true;
      return trial;
    }
    if (!trial.proposal.refused.empty())
      continue;
    if (trial.proposal.plan) {
      trial.measured = TRY(environment.measure_plan(*task_, *trial.proposal.plan, stop));
      trial.wasted = false;
      tried_.push_back({{}, trial.measured, model::to_json(*trial.proposal.plan).dump()});
      best_ = std::max(best_, score_of(trial.measured).value_or(0));
      continue;
    }
    auto state = TRY(environment.state(*task_, trial.proposal.moves));
    if (trial.proposal.moves.empty() || texts_.contains(state.text_hash))
      continue;
    trial.measured = TRY(environment.measure(*task_, trial.proposal.moves, stop));
    trial.wasted = false;
    remember(trial.proposal.moves, state.text_hash, trial.measured);
  }
  return trial;
}

} // namespace warpwright::trainer
