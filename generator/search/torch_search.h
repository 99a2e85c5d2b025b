// Search over plans of a torch task, by measured time.
//
// The order of proposals:
//   1. if it is faster by estimate, a mixture of this project's convolutions and the
//      library's, channels-last (convolution_choice.h)
//   2. every region by families of this project, then the library for the convolutions, large ones
//      also channels-last
//   3. the fastest choices for each anchor, and the fastest configuration of each region, of all
//      plans measured so far together (measured_regions.h)
//   4. changes of the fastest plan so far, by the measured or estimated time that they touch: the
//      next configuration of all its regions at once, since steps are timed one by one; another
//      family or the library for an anchor, fusion off, convolution layouts, an optional rewrite
//   5. plain plans (nothing fused, nothing rewritten)
// Regions that are alike change together, as the layers of a network do. If a plan in TF32 is
// refused, PyTorch used FP32 convolutions, and all later plans do too. Leaves out: running and
// measuring, which `evaluate` does.
#pragma once

#include "generator/search/graph_state.h"
#include "generator/search/recipe.h"
#include "generator/search/search_loop.h"

#include <memory>

namespace warpwright::search {

struct TorchProposal : GraphState {
  planning::BuiltPlan built; ///< the moves of its plan name rewrites and regions
};

struct TorchVariant {
  TorchProposal proposal;
  model::Verdict verdict;
};

/// A search strategy over plans: proposes the next plan, given all tried variants.
class TorchPolicy {
public:
  virtual ~TorchPolicy() = default;
  /// A plan not proposed before with at least one kernel of this
  /// project; nullopt if more proposals must be tried first.
  virtual std::optional<TorchProposal> propose(const std::vector<TorchVariant> &tried) = 0;
  virtual std::string_view name() const = 0;
};

/// Proposes plans in the order of the file comment; none for a graph without a plan, for which why() has the reason.
class DescentPolicy : public TorchPolicy {
public:
  /// The task must outlive the policy.
  /// @param known the result of an earlier search: tried first, where it still makes a plan
  DescentPolicy(const model::Task &task, const model::Graph &graph,
                const elements::DeviceFacts &facts, std::optional<Recipe> known = std::nullopt);
  ~DescentPolicy() override;
  std::optional<TorchProposal> propose(const std::vector<TorchVariant> &tried) override;
  std::string_view name() const override { return "descent"; }
  /// Reason why the first plan that failed could not be built; empty if none failed.
  const std::string &why() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

using TorchSearchEvents = SearchEvents<TorchVariant>;

/// Runs until the budget, the limits, the policy or the stop token ends the search. Up to half of limits.max_variants
/// refused plans do not count, and the budget does not end a search with only wrong results.
/// @param tried variants of an earlier search with this policy, their verdicts updated since; the
///   limits count from here
/// @return the variants in the order tried
std::vector<TorchVariant> search_torch(const model::Task &task, TorchPolicy &policy,
                                       SearchLimits limits, const TorchSearchEvents &events,
                                       std::stop_token stop, std::vector<TorchVariant> tried = {});

/// The verified variant with the largest speedup, or the first
/// verified one if nothing was timed; null if there is none.
const TorchVariant *best_torch_variant(const std::vector<TorchVariant> &variants);

/// The recipe that reproduces this proposal's plan.
Recipe recipe_of(const TorchProposal &proposal);

/// Estimated seconds of a region: its bytes, operations and launch at the rates of a GPU.
double estimated_seconds(const ops::GraphIndex &graph, const planning::PlannedRegion &region,
                         const arch::NodeRates &rates);

} // namespace warpwright::search
