// Search over moves by measured time, and the interface of its policies, including learned ones.
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

/// A search strategy or a learned policy: proposes the next state, given all tried variants.
class Policy {
public:
  virtual ~Policy() = default;
  /// Returns a state not tried before; nullopt if nothing is left to propose.
  virtual std::optional<source::State> propose(const source::State &original,
                                               const std::vector<Variant> &tried) = 0;
  virtual std::string_view name() const = 0;
};

/// Best-first: lifted templates, then single moves on the original, then moves on the fastest so far. Breadth-first if
/// nothing was timed (CPU backend).
std::unique_ptr<Policy> make_beam_policy(std::uint64_t seed = 0);

using TextSearchEvents = SearchEvents<Variant>;

/// Runs until the budget, the limits, the policy or the stop token ends the search.
/// @return the variants in the order tried
std::vector<Variant> search(const source::State &original, const model::Task &task, Policy &policy,
                            const SearchLimits &limits, const TextSearchEvents &events,
                            std::stop_token stop);

/// The verified variant in the file's text with the largest speedup whose interval lies above 1; null if there is none.
const Variant *best_variant(const std::vector<Variant> &variants);

} // namespace warpwright::search
