// Search over the texts of a CUDA file; see search.h.
#include "generator/search/search.h"

#include "support/model/json.h"

#include <set>

namespace warpwright::search {
namespace {

/// Variant for a state whose plan cannot be rendered; its verdict shows the reason.
Variant unrendered(source::State state, const Error &error) {
  Variant variant{std::move(state), {}, {}};
  variant.verdict.outcome = model::Outcome::Unsupported;
  variant.verdict.message = describe(error);
  return variant;
}

/// The state's text, or the plan's hash where the files do not hold the plan.
std::string deduplication_key(const source::State &state) {
  const source::Provenance &from = state.provenance;
  return from.answer && !from.not_applicable.empty() ? model::hash(*from.answer) : state.text();
}

} // namespace

std::vector<Variant> search(const source::State &original, const model::Task &task, Policy &policy,
                            const SearchLimits &limits, const TextSearchEvents &events,
                            std::stop_token stop) {
  std::set<std::string> seen{original.text()};
  const auto propose = [&](const std::vector<Variant> &tried) -> std::optional<Variant> {
    while (auto state = policy.propose(original, tried)) {
      if (!seen.insert(deduplication_key(*state)).second)
        continue;
      auto plan = states::render_plan(*state, task);
      return plan ? Variant{std::move(*state), std::move(*plan), {}}
                  : unrendered(std::move(*state), plan.error());
    }
    return std::nullopt;
  };
  const auto plan_of = [](const Variant &variant) {
    return variant.plan.steps.empty() ? nullptr : &variant.plan;
  };
  return run_search<Variant>(task, propose, plan_of, limits, events, std::move(stop));
}

const Variant *best_variant(const std::vector<Variant> &variants) {
  return fastest(variants, [](const Variant &variant) {
    const auto &speedup = variant.verdict.speedup;
    return speedup && speedup->low > 1 && variant.state.provenance.not_applicable.empty();
  });
}

} // namespace warpwright::search
