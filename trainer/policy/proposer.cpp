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
    const bool judged = version.refused.empty() && !version.pending;
    if (judged && (!original || !original->reference_time))
      original = original_of(version.verdict);
    Exemplar &exemplar = versions.emplace_back(
        Exemplar{version.moves, cut_down(version.verdict, 0), version.plan, &version.verdict});
    exemplar.refused = version.refused;
    exemplar.pending = version.pending;
  }
  if (original)
    versions.front().measured = *original;
  else
    versions.front().measured.outcome = model::Outcome::Verified;
  return versions;
}

bool has_code(const Proposal &proposal) { return proposal.plan || !proposal.regions.empty(); }

/// The version that a proposal repeats; null: it is new. Without code or moves it repeats the original.
const Exemplar *repeated(const Proposal &proposal, const std::vector<Exemplar> &tried) {
  const std::string code = has_code(proposal) ? answer_text(proposal) : "";
  const auto known = std::ranges::find_if(tried, [&](const Exemplar &version) {
    return version.plan == code && (!code.empty() || version.moves == proposal.moves);
  });
  return known == tried.end() ? nullptr : &*known;
}

/// Why a proposal is of no use; empty: it may be, or another may be drawn at no cost. Language models cost tokens.
std::string reason_against(const Proposal &proposal, const Exemplar *repeats) {
  const bool has_cost = has_code(proposal) || !proposal.base.empty();
  if (!proposal.refused.empty() || !repeats || !has_cost)
    return proposal.refused;
  return repeats->refused.empty() ? "the answer repeats an earlier one" : repeats->refused;
}

} // namespace

std::string answer_text(const Proposal &proposal) {
  if (proposal.plan)
    return model::to_json(*proposal.plan).dump();
  nlohmann::json answer{{"moves", proposal.moves}, {"regions", nlohmann::json::object()}};
  for (const auto &[region, kernels] : proposal.regions) {
    nlohmann::json document = model::to_json(kernels);
    answer["source"] = document.at("source");
    for (const char *name : {"source", "moves", "options"})
      document.erase(name);
    answer["regions"][region] = std::move(document);
  }
  return answer.dump();
}

Result<Proposal> Proposer::propose(const TrainingTask &task, const std::vector<TriedVersion> &tried,
                                   Environment &environment, std::stop_token stop,
                                   const std::function<void(const std::string &)> &told) {
  auto view = TRY(environment.open(task));
  view.original.reset(); // only the caller's measurements count, not an earlier call's
  const std::vector<Exemplar> versions = exemplars_of(tried, view.original);
  double seconds = 0;
  int refused = 0;
  Proposal proposal;
  for (int i = 0; i < kAttempts && refused < kRefusedAttempts; ++i) {
    const Context context{
        task, view, environment.device(), choose_exemplars(versions, exemplars_, random_), versions,
        stop, told};
    proposal = TRY(policy_.propose(context, environment));
    seconds += proposal.seconds;
    proposal.seconds = seconds;
    const Exemplar *repeats = repeated(proposal, versions);
    proposal.refused = proposal.waits ? "" : reason_against(proposal, repeats);
    refused += !proposal.refused.empty();
    if (proposal.waits)
      return proposal;
    if (proposal.exhausted)
      break;
    if (proposal.refused.empty() && !repeats)
      return proposal;
  }
  proposal.moves.clear();
  proposal.plan.reset();
  proposal.exhausted = true;
  return proposal;
}

} // namespace warpwright::trainer
