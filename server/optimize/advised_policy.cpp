#include "server/optimize/advised_policy.h"

#include "generator/text/states/write_plan.h"
#include "support/model/json.h"

namespace warpwright::server {

AdvisedPolicy::AdvisedPolicy(std::unique_ptr<Adviser> adviser, model::Task task,
                             std::string missing)
    : adviser_(std::move(adviser)), task_(std::move(task)), missing_(std::move(missing)),
      search_(generator::make_beam_policy()) {}

std::string AdvisedPolicy::described() const {
  if (!missing_.empty())
    return "search, because " + missing_;
  const std::string name(this->name());
  return ended_.empty() ? name : name + ", then search: " + ended_;
}

Result<generator::State> AdvisedPolicy::taken(const generator::State &original,
                                              const Advice &advice) const {
  Result<generator::State> state = original;
  if (advice.plan) {
    if (auto fits = model::check_plan(*advice.plan, task_); !fits)
      return std::unexpected(fits.error());
    state = generator::with_plan(original, task_, *advice.plan, std::string(adviser_->name()));
  }
  for (const std::string &text : advice.moves) {
    auto move = generator::move_from_string(text);
    state = move ? generator::apply_move(*state, *move)
                 : Result<generator::State>(std::unexpected(move.error()));
    if (!state)
      return state;
  }
  state->provenance.proposer = adviser_->name();
  state->provenance.analysis = advice.analysis;
  return state;
}

std::optional<generator::State>
AdvisedPolicy::propose(const generator::State &original,
                       const std::vector<generator::Variant> &tried) {
  if (!adviser_ || !ended_.empty())
    return search_->propose(original, tried);
  auto advice = adviser_->advise(original, tried);
  if (advice && advice->exhausted)
    ended_ = advice->refused.empty() ? "it proposes nothing more that is new"
                                     : "its answers could not be used: " + advice->refused;
  auto state =
      advice ? taken(original, *advice) : Result<generator::State>(std::unexpected(advice.error()));
  if (!state)
    ended_ = describe(state.error());
  if (!ended_.empty())
    return search_->propose(original, tried);
  if (!advice->analysis.empty())
    analysis_ = advice->analysis;
  return std::move(*state);
}

runner::Proposed proposed(const generator::Provenance &provenance) {
  return {provenance.proposer, provenance.analysis, provenance.answer, provenance.not_applicable};
}

} // namespace warpwright::server
