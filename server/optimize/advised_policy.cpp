#include "server/optimize/advised_policy.h"

#include "generator/text/states/write_plan.h"
#include "support/model/json.h"

namespace warpwright::server {

AdvisedPolicy::AdvisedPolicy(std::unique_ptr<Adviser> adviser, model::Task task,
                             std::string missing)
    : adviser_(std::move(adviser)), task_(std::move(task)), missing_(std::move(missing)),
      search_(search::make_beam_policy()) {}

std::string AdvisedPolicy::described() const {
  if (!missing_.empty())
    return "search, because " + missing_;
  const std::string note = adviser_ ? adviser_->note() : "";
  const std::string name = std::string(this->name()) + (note.empty() ? "" : ", " + note);
  return ended_.empty() ? name : name + ", then search: " + ended_;
}

Result<source::State> AdvisedPolicy::taken(const source::State &original,
                                           const Advice &advice) const {
  Result<source::State> state = original;
  if (advice.plan) {
    if (auto fits = model::check_plan(*advice.plan, task_); !fits)
      return std::unexpected(fits.error());
    state = states::with_plan(original, task_, *advice.plan, std::string(adviser_->name()));
  }
  for (const std::string &text : advice.moves) {
    auto move = source::move_from_string(text);
    state = move ? states::apply_move(*state, *move)
                 : Result<source::State>(std::unexpected(move.error()));
    if (!state)
      return state;
  }
  state->provenance.proposer = adviser_->name();
  state->provenance.analysis = advice.analysis;
  return state;
}

std::optional<source::State> AdvisedPolicy::propose(const source::State &original,
                                                    const std::vector<search::Variant> &tried) {
  if (!adviser_ || !ended_.empty())
    return search_->propose(original, tried);
  auto advice = adviser_->advise(original, tried);
  if (advice && advice->exhausted)
    ended_ = advice->refused.empty() ? "it proposes nothing more that is new"
                                     : "its answers could not be used: " + advice->refused;
  auto state =
      advice ? taken(original, *advice) : Result<source::State>(std::unexpected(advice.error()));
  if (!state)
    ended_ = describe(state.error());
  if (!ended_.empty())
    return search_->propose(original, tried);
  if (!advice->analysis.empty())
    analysis_ = advice->analysis;
  return std::move(*state);
}

runner::Proposed proposed(const source::Provenance &provenance) {
  return {provenance.proposer, provenance.analysis, provenance.answer, provenance.not_applicable};
}

} // namespace warpwright::server
