#include "server/mcp/verdicts.h"

#include "server/kernel_status.h"
#include "server/measured_text.h"
#include "support/hash.h"
#include "support/model/json.h"
#include "support/model/verdict_text.h"

#include <algorithm>

namespace warpwright::mcp {
namespace {

constexpr std::size_t kIdDigits = 12;

Json rates_json(const std::optional<model::Evidence> &evidence) {
  if (!evidence)
    return nullptr;
  const auto share = [](const std::optional<double> &value) { return value ? Json(*value) : Json(); };
  return {{"bound", std::string(model::name(evidence->bound))},
          {"memory_share", share(evidence->memory_share)},
          {"compute_share", share(evidence->compute_share)}};
}

} // namespace

std::string verdict_id(const model::Verdict &verdict) {
  return sha256_hex(verdict.task_hash + verdict.plan_hash + verdict.device.identifier +
                    verdict.device.name + verdict.date)
      .substr(0, kIdDigits);
}

std::string claim_text(const model::Verdict &verdict) {
  std::string text = model::outcome_text(verdict);
  if (verdict.outcome != model::Outcome::Verified)
    return text + ": " + (verdict.message.empty() ? "no reason given" : verdict.message);
  if (!verdict.speedup)
    return text + ": correct" +
           (verdict.device.name.empty() ? "" : " on " + verdict.device.name) +
           "; speed not measured, so no speedup may be claimed";
  text += ": " + server::speedup_on_device(*verdict.speedup);
  if (verdict.speedup->high < 1)
    return text + ", which is slower than the original";
  if (verdict.speedup->low <= 1)
    return text + ", which is not a measurable difference";
  const std::string keep = server::keep_text(verdict);
  return keep.empty() ? text : text + "; " + keep;
}

Json verdict_json(const runner::LedgerEntry &entry) {
  const model::Verdict &verdict = entry.verdict;
  const Json full = model::to_json(verdict);
  return {{"verdict", verdict_id(verdict)},
          {"outcome", std::string(model::name(verdict.outcome))},
          {"message", verdict.message},
          {"summary", claim_text(verdict)},
          {"speedup", full.value("speedup", Json())},
          {"time", full.value("candidate_time", Json())},
          {"reference_time", full.value("reference_time", Json())},
          {"before", rates_json(verdict.reference_evidence)},
          {"after", rates_json(verdict.candidate_evidence)},
          {"moves", entry.plan.moves},
          {"device", verdict.device.name},
          {"sizes", verdict.measured_sizes},
          {"date", verdict.date}};
}

Json verdict_link(const runner::LedgerEntry &entry) {
  const std::string id = verdict_id(entry.verdict);
  return {{"type", "resource_link"},
          {"uri", "warpwright://verdict/" + id},
          {"name", "verdict " + id},
          {"description", entry.kernel + ": " + claim_text(entry.verdict)},
          {"mimeType", "application/json"}};
}

std::string Verdicts::add(runner::LedgerEntry entry) {
  const std::string id = verdict_id(entry.verdict);
  Kept kept{id, std::make_shared<const runner::LedgerEntry>(std::move(entry))};
  entries_.with([&](auto &entries) {
    std::erase_if(entries, [&](const Kept &one) { return one.id == id; });
    entries.push_front(std::move(kept));
    if (entries.size() > kMost)
      entries.pop_back();
  });
  return id;
}

Result<EntryPtr> Verdicts::find(const std::string &id) const {
  return entries_.with([&](const auto &entries) -> Result<EntryPtr> {
    const auto found = std::ranges::find(entries, id, &Kept::id);
    if (found == entries.end())
      return fail("there is no verdict " + id + " in this session",
                  "Name the file and the kernel instead: diff and explain then read the ledger");
    return found->entry;
  });
}

std::vector<EntryPtr> Verdicts::newest_first() const {
  return entries_.with([](const auto &entries) {
    std::vector<EntryPtr> all;
    for (const Kept &kept : entries)
      all.push_back(kept.entry);
    return all;
  });
}

} // namespace warpwright::mcp
