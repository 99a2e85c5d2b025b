// Search over plans of a torch task, by measured time.
//
// The order of proposals:
//   1. where estimates say that it is quicker, a mixture of this project's convolutions and the
//      library's, channels-last (convolution_choice.h)
//   2. every region by families of this project, then the library for the convolutions, large ones
//      also channels-last
//   3. single changes of the fastest plan so far, by the estimated time that they touch:
//      another family or the library for an anchor, another configuration, fusion off, convolution
//      layouts, an optional rewrite
//   4. plain plans (nothing fused, nothing rewritten)
// Regions that are alike change together, as the layers of a network do. Where a plan in TF32 is
// refused, PyTorch's convolutions were FP32, and all later plans are too. Leaves out running and
// measuring, which `evaluate` does. Thread: one.
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

/// Proposes the next plan to try, given all tried variants.
class TorchPolicy {
public:
  virtual ~TorchPolicy() = default;
  /// A plan not proposed before with at least one kernel of this project; nullopt when there is
  /// none before more proposals have been tried.
  virtual std::optional<TorchProposal> propose(const std::vector<TorchVariant> &tried) = 0;
  virtual std::string_view name() const = 0;
};

/// The order of the file's comment. Proposes nothing for a graph without a plan; why() has the
/// reason.
class DescentPolicy : public TorchPolicy {
public:
  /// The task must outlive the policy.
  /// @param known the result of an earlier search: tried first, where it still makes a plan
  DescentPolicy(const model::Task &task, const model::Graph &graph,
                const elements::DeviceFacts &facts, std::optional<Recipe> known = std::nullopt);
  ~DescentPolicy() override;
  std::optional<TorchProposal> propose(const std::vector<TorchVariant> &tried) override;
  std::string_view name() const override { return "descent"; }
  /// Why the first plan that failed could not be built; empty when none failed.
  const std::string &why() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

using TorchSearchEvents = SearchEvents<TorchVariant>;

/// Runs until the budget, the limit, the policy or the stop token ends it. Up to half of
/// limits.max_variants refused plans are not counted, and the budget does not end a search that has
/// only wrong results.
/// @param tried variants of an earlier search with this policy, their verdicts updated since; the
///   limits count from here
/// @return the variants in the order tried
std::vector<TorchVariant> search_torch(const model::Task &task, TorchPolicy &policy,
                                       SearchLimits limits, const TorchSearchEvents &events,
                                       std::stop_token stop, std::vector<TorchVariant> tried = {});

/// The verified variant with the largest speedup; where nothing was timed, the first verified; null
/// when there is none.
const TorchVariant *best_torch_variant(const std::vector<TorchVariant> &variants);

/// The recipe that makes this proposal's plan again.
Recipe recipe_of(const TorchProposal &proposal);

/// Estimated seconds of a region: its bytes, operations and launch at the rates of a GPU.
double estimated_seconds(const ops::GraphIndex &graph, const planning::PlannedRegion &region,
                         const arch::NodeRates &rates);

} // namespace warpwright::search
