#include "trainer/policy/proposer.h"

#include "support/model/json.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

constexpr int kAttempts = 8;        ///< to find an untried proposal
constexpr int kRefusedAttempts = 3; ///< unusable answers: each may cost money

/// Measurement of the unchanged source, taken from the reference side of any candidate's verdict.
Measured original_of(const model::Verdict &verdict) {
  Measured original;
  original.outcome = model::Outcome::Verified;
  original.device = device_key(verdict.device);
  if (const auto &time = verdict.reference_time) {
    original.reference_time = MeasuredTime{time->median_ns, time->low_ns, time->high_ns};
    original.speedup = MeasuredRatio{1, 1, 1, 0};
  }
  if (!verdict.reference_kernels.empty()) {
    original.registers = verdict.reference_kernels.front().registers;
    original.occupancy = verdict.reference_kernels.front().occupancy;
  }
  if (verdict.reference_evidence)
    original.reference_bound = verdict.reference_evidence->bound;
  return original;
}

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
