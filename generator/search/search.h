// Search over moves by measured time, behind the interface that a learned policy implements too.
//
// Thread: one search runs on one thread; `evaluate` may block (it asks a runner) and must return when the stop
// token asks. Nothing is shared.
#pragma once

#include "generator/search/search_loop.h"
#include "generator/text/states/generator.h"

#include <memory>

namespace warpwright::generator {

struct Variant {
  State state;
  model::Plan plan;
  model::Verdict verdict;
};

/// Proposes the next state to try, given all that was tried. The seam to search strategies and learned policies.
class Policy {
public:
  virtual ~Policy() = default;
  /// A state not tried before, or nullopt when it has nothing left to propose.
  virtual std::optional<State> propose(const State &original,
                                       const std::vector<Variant> &tried) = 0;
  virtual std::string_view name() const = 0;
};

/// Best-first: lifted templates first, then single moves on the original, then moves on the fastest so far.
/// Where nothing was timed (CPU backend) it walks breadth-first.
std::unique_ptr<Policy> make_beam_policy(std::uint64_t seed = 0);

using TextSearchEvents = SearchEvents<Variant>;

/// Runs until the budget, the limit, the policy or the stop token ends it. The variants in the order tried.
std::vector<Variant> search(const State &original, const model::Task &task, Policy &policy,
                            const SearchLimits &limits, const TextSearchEvents &events,
                            std::stop_token stop);

/// The verified variant with the largest speedup whose interval lies above 1, of those that are in the file's text; null when there is
/// none.
const Variant *best_variant(const std::vector<Variant> &variants);

} // namespace warpwright::generator
