// Search over plans of a torch task, by measured time.
//
// First, where estimates say that it is quicker, a mixture of our convolutions and the library's, channels-last (convolution_choice.h); then
// everything of ours, then the library for the convolutions, where they are large also channels-last; then one change at a time of the fastest
// so far, the changes first that touch most of the estimated time: another family or the library for an anchor, another
// configuration, fusion off, convolution layouts, a rewrite that is a choice. Regions that are alike change together, as the layers of a
// network do. Where a plan in TF32 is refused, PyTorch's convolutions were FP32, and so are all that follow. What is plain (nothing
// fused, nothing rewritten) comes last. A learned policy implements the same interface. Leaves out running and measuring: `evaluate` does. Thread: one.
#pragma once

#include "generator/search/graph_state.h"
#include "generator/search/recipe.h"
#include "generator/search/search_loop.h"

#include <memory>

namespace warpwright::generator {

struct TorchProposal : GraphState {
  BuiltPlan built; ///< whose plan's moves name rewrites and regions
};

struct TorchVariant {
  TorchProposal proposal;
  model::Verdict verdict;
};

/// Proposes the next plan to try, given all that was tried.
class TorchPolicy {
public:
  virtual ~TorchPolicy() = default;
  /// A plan not proposed before with at least one kernel of ours, or nullopt when there is nothing to propose before more of what was
  /// proposed has been tried.
  virtual std::optional<TorchProposal> propose(const std::vector<TorchVariant> &tried) = 0;
  virtual std::string_view name() const = 0;
};

/// As the file says. What cannot be planned at all proposes nothing; why() tells the reason then.
class DescentPolicy : public TorchPolicy {
public:
  /// The task must outlive the policy.
  /// @param known what an earlier search ended with: tried first, where it still makes a plan
  DescentPolicy(const model::Task &task, const model::Graph &graph, const DeviceFacts &facts,
                std::optional<Recipe> known = std::nullopt);
  ~DescentPolicy() override;
  std::optional<TorchProposal> propose(const std::vector<TorchVariant> &tried) override;
  std::string_view name() const override { return "descent"; }
  /// Of the first plan that could not be built; empty when all could.
  const std::string &why() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

using TorchSearchEvents = SearchEvents<TorchVariant>;

/// Runs until the budget, the limit, the policy or the stop token ends it. The variants in the order tried.
/// Half as many refused plans as variants are not counted, and the budget ends a search that has more than wrong results.
/// @param tried what an earlier search with this policy tried, with what has been found out since; the limits count from here
std::vector<TorchVariant> search_torch(const model::Task &task, TorchPolicy &policy,
                                       SearchLimits limits,
                                       const TorchSearchEvents &events, std::stop_token stop,
                                       std::vector<TorchVariant> tried = {});

/// The verified variant with the largest speedup; where nothing was timed, the first verified. Null when there is none.
const TorchVariant *best_torch_variant(const std::vector<TorchVariant> &variants);

/// What makes this proposal's plan again.
Recipe recipe_of(const TorchProposal &proposal);

/// Seconds that a region might take, roughly: bytes, operations and launches against what such a GPU reaches.
double estimated_seconds(const GraphIndex &graph, const PlannedRegion &region,
                         const arch::NodeRates &rates);

} // namespace warpwright::generator
