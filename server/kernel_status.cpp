// Decision table of kernel states, and texts of measured values.
#include "server/kernel_status.h"

#include "server/measured_text.h"
#include "support/words.h"

#include <algorithm>
#include <string_view>

namespace warpwright::server {

namespace {

/// Whether the entry was measured again at the end of a search, against every baseline. Speedups
/// measured during a search favor variants with lucky noise.
bool is_confirmed(const runner::LedgerEntry &entry) {
  return std::ranges::any_of(entry.verdict.baselines, [](const model::Baseline &baseline) {
    return baseline.name.starts_with("torch.compile");
  });
}

/// The fastest verified entry that was measured against every baseline; null: none.
const runner::LedgerEntry *best_confirmed(const std::vector<const runner::LedgerEntry *> &entries) {
  const runner::LedgerEntry *best = nullptr;
  for (const runner::LedgerEntry *entry : entries)
    if (entry->verdict.outcome == model::Outcome::Verified && entry->verdict.speedup &&
        is_confirmed(*entry) &&
        (!best || entry->verdict.speedup->ratio > best->verdict.speedup->ratio))
      best = entry;
  return best;
}

/// Order: confirmed before others, faster before slower, measured before checked. Ties keep the
/// newest first.
bool better(const runner::LedgerEntry *a, const runner::LedgerEntry *b) {
  if (is_confirmed(*a) != is_confirmed(*b))
    return is_confirmed(*a);
  const double left = is_faster(a->verdict) ? a->verdict.speedup->ratio : 0;
  const double right = is_faster(b->verdict) ? b->verdict.speedup->ratio : 0;
  return left > right;
}

KernelState state_of(const KernelStatus &status, const analysis::Kernel &kernel) {
  if (status.job)
    return status.job->queued ? KernelState::Queued : KernelState::Measuring;
  if (status.applied && status.applied == status.best)
    return KernelState::Applied;
  if (status.outrun && (status.best || !status.applied))
    return KernelState::Outrun;
  if (status.best)
    return is_faster(status.best->verdict) ? KernelState::Faster : KernelState::Checked;
  if (status.applied)
    return KernelState::Applied;
  if (!status.current.empty())
    return KernelState::NothingFaster;
  if (!status.stale.empty())
    return KernelState::Stale;
  return kernel.task.inferred ? KernelState::NotMeasured : KernelState::MissingFacts;
}

} // namespace

bool is_faster(const model::Verdict &verdict) {
  return verdict.outcome == model::Outcome::Verified && verdict.speedup && verdict.speedup->low > 1;
}

bool is_checked(const model::Verdict &verdict) {
  return verdict.outcome == model::Outcome::Verified && !verdict.speedup;
}

KernelStatus kernel_status(const analysis::Kernel &kernel, const std::string &hash,
                           EntriesPtr entries, std::optional<JobStatus> job) {
  KernelStatus status;
  status.entries = std::move(entries);
  status.job = std::move(job);
  for (const runner::LedgerEntry &entry : *status.entries) {
    const bool is_current = !hash.empty() && entry.source_hash == hash;
    (is_current ? status.current : status.stale).push_back(&entry);
    if (is_current && !kernel.applied_variant.empty() && !status.applied &&
        entry.variant_text.find(kernel.applied_variant) != std::string::npos)
      status.applied = &entry;
    const bool is_applied = !is_current && !hash.empty() &&
                            source_hash(entry.plan.source) == hash &&
                            entry.verdict.outcome == model::Outcome::Verified;
    if (is_applied && !status.applied)
      status.applied = &entry;
  }
  for (const runner::LedgerEntry *entry : status.current) {
    const bool offered =
        (is_faster(entry->verdict) || is_checked(entry->verdict)) && !entry->plan.moves.empty();
    if (offered)
      (entry->proposed.not_applicable.empty() ? status.offered : status.not_applicable)
          .push_back(entry);
  }
  std::ranges::stable_sort(status.offered, better);
  std::ranges::stable_sort(status.not_applicable, better);
  if (!status.offered.empty())
    status.best = status.offered.front();
  if (const auto *plan = best_confirmed(status.current);
      plan && plan->task.module && !keep_text(plan->verdict).empty())
    status.outrun = plan;
  status.state = state_of(status, kernel);
  return status;
}

std::string job_text(const JobStatus &job) {
  if (job.queued)
    return {};
  return "variant " + std::to_string(std::min(job.tried + 1, job.max_variants)) + " of " +
         std::to_string(job.max_variants) + (job.stage.empty() ? "" : " (" + job.stage + ")");
}

std::string speedup_on_device(const model::Speedup &speedup) {
  return speedup_text(speedup) + " on " + speedup.device;
}

std::string move_text(const std::string &move) {
  constexpr std::string_view kTemplate = "template(";
  const std::size_t end = move.find(')');
  if (!move.starts_with(kTemplate) || end == std::string::npos)
    return move;
  std::string text = move.substr(kTemplate.size(), end - kTemplate.size());
  for (std::size_t comma = text.find(", "); comma != std::string::npos;) {
    const std::size_t next = std::min(text.find(", ", comma + 2), text.size());
    const std::string_view parameter = std::string_view(text).substr(comma, next - comma);
    const bool is_idle = parameter.ends_with("=0") || parameter.ends_with("=1");
    if (is_idle)
      text.erase(comma, parameter.size());
    comma = text.find(", ", is_idle ? comma : next);
  }
  if (const std::size_t comma = text.find(", "); comma != std::string::npos)
    text.replace(comma, 2, "(") += ')';
  const std::string fused = move.substr(std::min(end + 2, move.size()));
  return fused.empty() ? text : fused + " as " + text;
}

std::string moves_text(const std::vector<std::string> &moves) {
  return moves.empty() ? "as written" : joined(moves, ", ", move_text);
}

} // namespace warpwright::server
