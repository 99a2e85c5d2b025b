// The loop of every search: it proposes and evaluates variants until a limit or the stop token ends it. The caller
// provides the type of variants and the proposer.
//
// Thread: one search runs on one thread. `evaluate` may block (it asks a runner), runs on other
// threads where limits.at_once is more than 1, and must return when the stop token asks.
#pragma once

#include "support/model/plan.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <vector>

namespace warpwright::search {

/// Candidates that crash with one message, and no other outcome, end a search.
constexpr std::size_t kCrashesAlike = 4;

struct SearchLimits {
  int max_variants = 64;
  std::chrono::milliseconds budget{30'000};
  /// Variants evaluated at a time: the next one is proposed without the verdicts of those still in work.
  int at_once = 1;
  /// Time of a verified variant at or below which the search ends; 0 disables this.
  double enough_ns = 0;
  /// Number of wrong results that do not count toward max_variants, because a refused plan takes little time.
  int free_refusals = 0;
  /// If all results so far are wrong, the search continues past the budget, as it may have waited for a busy GPU.
  bool outlasts_refusals = false;
};

template <class Variant>
struct SearchEvents {
  /// Runs and judges one candidate.
  std::function<model::Verdict(const model::Task &, const model::Plan &, std::stop_token)> evaluate;
  /// Reports progress; may be empty.
  std::function<void(const Variant &, std::size_t tried)> on_variant;
};

/// The verified variant with the largest speedup among those that `counts`
/// accepts, or the first one if none was timed; null if there is none.
template <class Variant, class Counts>
const Variant *fastest(const std::vector<Variant> &variants, Counts counts) {
  const Variant *best = nullptr;
  const auto ratio = [](const Variant &variant) {
    return variant.verdict.speedup ? variant.verdict.speedup->ratio : 0.0;
  };
  for (const Variant &variant : variants)
    if (variant.verdict.outcome == model::Outcome::Verified && counts(variant) &&
        (!best || ratio(variant) > ratio(*best)))
      best = &variant;
  return best;
}

/// @param propose (tried) -> optional<Variant>: the next variant,
/// without a verdict; nullopt if more must be tried first
/// @param plan_of (variant) -> const model::Plan *; null if the variant already has its verdict
/// @param tried variants of an earlier search; the limits count from here
/// @return the variants in the order tried
template <class Variant, class Propose, class PlanOf>
std::vector<Variant> run_search(const model::Task &task, Propose propose, PlanOf plan_of,
                                const SearchLimits &limits, const SearchEvents<Variant> &events,
                                std::stop_token stop, std::vector<Variant> tried = {}) {
  struct InWork {
    Variant variant;
    std::future<model::Verdict> verdict = {};
  };
  std::deque<InWork> in_work; // a deque, because its elements keep their addresses
  const auto start = std::chrono::steady_clock::now();
  const auto is_wrong = [](const Variant &variant) {
    return variant.verdict.outcome == model::Outcome::WrongResult;
  };
  // Plans that differ and crash alike have a common cause, as a reference that fails beside them.
  const auto all_crashed_alike = [&] {
    const auto is_alike = [&](const Variant &variant) {
      return variant.verdict.outcome == model::Outcome::Crash &&
             variant.verdict.message == tried.front().verdict.message;
    };
    return tried.size() >= kCrashesAlike && std::ranges::all_of(tried, is_alike);
  };
  int counted = 0, free_of_charge = limits.free_refusals;
  bool enough = false;
  const auto may_begin = [&] {
    const auto begun = static_cast<int>(in_work.size());
    const bool in_time = std::chrono::steady_clock::now() - start < limits.budget;
    const bool goes_on = limits.outlasts_refusals && begun == 0 && !tried.empty() &&
                         std::ranges::all_of(tried, is_wrong);
    return !enough && !all_crashed_alike() && begun < limits.at_once && counted + begun < limits.max_variants &&
           !stop.stop_requested() && (in_time || goes_on);
  };
  while (true) {
    while (may_begin()) {
      std::optional<Variant> proposed = propose(tried);
      if (!proposed)
        break;
      InWork &next = in_work.emplace_back(InWork{std::move(*proposed)});
      const model::Plan *plan = plan_of(next.variant);
      const auto how = plan && limits.at_once > 1 ? std::launch::async : std::launch::deferred;
      next.verdict = std::async(how, [&, plan] {
        return plan ? events.evaluate(task, *plan, stop) : std::move(next.variant.verdict);
      });
    }
    if (in_work.empty())
      return tried;
    model::Verdict verdict = in_work.front().verdict.get();
    Variant variant = std::move(in_work.front().variant);
    variant.verdict = std::move(verdict);
    in_work.pop_front();
    if (stop.stop_requested())
      continue; // the stop interrupted it and all others in work
    const auto &time = variant.verdict.candidate_time;
    enough |= variant.verdict.outcome == model::Outcome::Verified && time &&
              time->median_ns <= limits.enough_ns;
    if (!is_wrong(variant) || free_of_charge-- <= 0)
      ++counted;
    tried.push_back(std::move(variant));
    if (events.on_variant)
      events.on_variant(tried.back(), tried.size());
  }
}

} // namespace warpwright::search
