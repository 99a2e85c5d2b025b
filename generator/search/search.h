// Search over moves by measured time, with the interface of its policies, learned ones included.
#pragma once

#include "generator/search/search_loop.h"
#include "generator/text/states/generator.h"

#include <memory>

namespace warpwright::search {

struct Variant {
  source::State state;
  model::Plan plan;
  model::Verdict verdict;
};

/// Proposes the next state to try, given all tried variants: a search strategy or a learned policy.
class Policy {
public:
  virtual ~Policy() = default;
  /// A state not tried before; nullopt when nothing is left to propose.
  virtual std::optional<source::State> propose(const source::State &original,
                                               const std::vector<Variant> &tried) = 0;
  virtual std::string_view name() const = 0;
};

/// Best-first: lifted templates first, then single moves on the original, then moves on the fastest
/// so far. Breadth-first where nothing was timed (CPU backend).
std::unique_ptr<Policy> make_beam_policy(std::uint64_t seed = 0);

using TextSearchEvents = SearchEvents<Variant>;

/// Runs until the budget, the limit, the policy or the stop token ends it.
/// @return the variants in the order tried
std::vector<Variant> search(const source::State &original, const model::Task &task, Policy &policy,
                            const SearchLimits &limits, const TextSearchEvents &events,
                            std::stop_token stop);

/// The verified variant with the largest speedup whose interval lies above 1, of those in the
/// file's text; null when there is none.
const Variant *best_variant(const std::vector<Variant> &variants);

} // namespace warpwright::search
