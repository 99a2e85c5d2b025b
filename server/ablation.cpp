#include "server/ablation.h"

#include <algorithm>
#include <span>

namespace warpwright::server {
namespace {

/// Whether `prefix` is a verified variant with fewer of the variant's moves, measured in the same way.
bool is_prefix(const runner::LedgerEntry &prefix, const runner::LedgerEntry &variant) {
  const std::vector<std::string> &some = prefix.plan.moves, &all = variant.plan.moves;
  const model::Verdict &verdict = prefix.verdict;
  return !some.empty() && some.size() < all.size() && std::ranges::equal(some, std::span(all).first(some.size())) &&
         verdict.outcome == model::Outcome::Verified && verdict.speedup &&
         verdict.device.name == variant.verdict.device.name &&
         verdict.measured_sizes == variant.verdict.measured_sizes &&
         prefix.proposed.answer == variant.proposed.answer;
}

/// The prefixes by their number of moves, each the newest of its kind, and the variant itself.
std::vector<const runner::LedgerEntry *> chain_of(const runner::LedgerEntry &variant,
                                                  const std::vector<const runner::LedgerEntry *> &measured) {
  std::vector<const runner::LedgerEntry *> chain;
  for (const runner::LedgerEntry *entry : measured) // newest first
    if (is_prefix(*entry, variant) &&
        std::ranges::none_of(chain, [&](const auto *one) { return one->plan.moves == entry->plan.moves; }))
      chain.push_back(entry);
  std::ranges::sort(chain, {}, [](const auto *entry) { return entry->plan.moves.size(); });
  chain.push_back(&variant);
  return chain;
}

} // namespace

std::vector<Contribution> contributions(const runner::LedgerEntry &variant,
                                        const std::vector<const runner::LedgerEntry *> &measured) {
  if (!variant.verdict.speedup || variant.task.module)
    return {};
  const auto chain = chain_of(variant, measured);
  if (chain.size() < 2)
    return {};
  std::vector<Contribution> parts;
  model::Speedup before{.ratio = 1, .low = 1, .high = 1};
  std::size_t done = 0;
  for (const runner::LedgerEntry *entry : chain) {
    const model::Speedup &now = *entry->verdict.speedup;
    const auto &moves = entry->plan.moves;
    parts.push_back({{moves.begin() + static_cast<std::ptrdiff_t>(done), moves.end()},
                     now.ratio / before.ratio,
                     now.low / before.high,
                     now.high / before.low});
    before = now;
    done = moves.size();
  }
  return parts;
}

} // namespace warpwright::server
