// The loop of a search: propose, render, evaluate, until something ends it; see search.h.
#include "generator/search/search.h"

#include "support/model/json.h"

#include <algorithm>
#include <set>

namespace warpwright::generator {
namespace {

/// A state whose plan cannot be rendered is a variant too, so that its reason is shown.
Variant unrendered(State state, const Error &error) {
  Variant variant{std::move(state), {}, {}};
  variant.verdict.outcome = model::Outcome::Unsupported;
  variant.verdict.message = describe(error);
  return variant;
}

/// What tells one candidate from another: the file's text, or the plan that is not in it.
std::string identity(const State &state) {
  const Provenance &from = state.provenance;
  return from.answer && !from.not_applicable.empty() ? model::hash(*from.answer) : state.file.text;
}

} // namespace

std::vector<Variant> search(const State &original, const model::Task &task, Policy &policy,
                            const SearchLimits &limits, const SearchEvents &events,
                            std::stop_token stop) {
  const auto deadline = std::chrono::steady_clock::now() + limits.budget;
  std::vector<Variant> tried;
  std::set<std::string> texts{original.file.text};
  while (!stop.stop_requested() && static_cast<int>(tried.size()) < limits.max_variants &&
         std::chrono::steady_clock::now() < deadline) {
    auto state = policy.propose(original, tried);
    if (!state)
      break;
    if (!texts.insert(identity(*state)).second)
      continue;
    auto plan = render_plan(*state, task);
    if (!plan) {
      tried.push_back(unrendered(std::move(*state), plan.error()));
    } else {
      model::Verdict verdict = events.evaluate(task, *plan, stop);
      tried.push_back({std::move(*state), std::move(*plan), std::move(verdict)});
    }
    if (events.on_variant)
      events.on_variant(tried.back(), tried.size());
  }
  return tried;
}

const Variant *best_variant(const std::vector<Variant> &variants) {
  const Variant *best = nullptr;
  for (const Variant &variant : variants) {
    const auto &verdict = variant.verdict;
    if (verdict.outcome != model::Outcome::Verified || !verdict.speedup ||
        verdict.speedup->low <= 1 || !variant.state.provenance.not_applicable.empty())
      continue;
    if (!best || verdict.speedup->ratio > best->verdict.speedup->ratio)
      best = &variant;
  }
  return best;
}

} // namespace warpwright::generator
