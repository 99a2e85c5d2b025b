#include "trainer/policy/proposer.h"

#include "support/model/json.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

constexpr int kAttempts = 8;        ///< to find an untried proposal
constexpr int kRefusedAttempts = 3; ///< unusable answers: each may cost money

/// Exemplars of the tried versions, the unchanged source first.
std::vector<Exemplar> exemplars_of(const std::vector<TriedVersion> &tried,
                                   std::optional<Measured> &original) {
  std::vector<Exemplar> versions(1);
  for (const TriedVersion &version : tried) {
    if (!original || !original->reference_time)
      original = original_of(version.verdict);
    versions.push_back({version.moves, cut_down(version.verdict, 0), version.plan});
  }
  if (original)
    versions.front().measured = *original;
  else
    versions.front().measured.outcome = model::Outcome::Verified;
  return versions;
}

bool is_new(const Proposal &proposal, const std::vector<Exemplar> &tried) {
  if (!proposal.plan)
    return !proposal.moves.empty() &&
           std::ranges::find(tried, proposal.moves, &Exemplar::moves) == tried.end();
  const std::string plan = model::to_json(*proposal.plan).dump();
  return std::ranges::find(tried, plan, &Exemplar::plan) == tried.end();
}

} // namespace

Result<Proposal> Proposer::propose(const TrainingTask &task, const std::vector<TriedVersion> &tried,
                                   Environment &environment) {
  auto view = TRY(environment.open(task));
  view.original.reset(); // only the caller's measurements count, not an earlier call's
  const std::vector<Exemplar> versions = exemplars_of(tried, view.original);
  double seconds = 0;
  int refused = 0;
  Proposal proposal;
  for (int i = 0; i < kAttempts && refused < kRefusedAttempts; ++i) {
    const Context context{task, view, environment.device(),
                          choose_exemplars(versions, exemplars_, random_), versions};
    proposal = TRY(policy_.propose(context, environment));
    seconds += proposal.seconds;
    proposal.seconds = seconds;
    refused += !proposal.refused.empty();
    if (proposal.exhausted)
      break;
    if (proposal.refused.empty() && is_new(proposal, versions))
      return proposal;
  }
  proposal.moves.clear();
  proposal.plan.reset();
  proposal.exhausted = true;
  return proposal;
}

} // namespace warpwright::trainer
