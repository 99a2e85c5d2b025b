// Starts of a search over plans of a graph: complete choices that estimates or experience favor, and plain fallbacks.
//
// torch_search.h tries them in this order; plan_walk.h offers them as
// moves. Leaves out: single changes of a plan, which those two make.
#pragma once

#include "generator/search/graph_state.h"

#include <string_view>

namespace warpwright::search {

struct PlanStart : GraphState {
  /// "mixture", "ours", "library", "channels_last", "folded", "exact", "plain", "alone", or the name of
  /// the rule that was applied everywhere.
  std::string_view name;
  bool fallback = false; ///< tried only if nothing else is right or left
};

/// The starts and the fallbacks among them, in the order to be tried.
std::vector<PlanStart> plan_starts(const model::Graph &traced, const elements::DeviceFacts &facts);

/// A state after an optional rewrite wherever it is legal, followed by the rewrites that are always good.
/// @return nullopt if the rewrite is legal nowhere
std::optional<PlanStart> rewritten_everywhere(const GraphState &base, std::string_view rule);

/// Rewrite that is always good, except that it is not applied after kPlanOfItsOwn, which it would reverse.
inline constexpr std::string_view kAttention = "attention";

/// Optional rewrite with even odds of a gain; for the others, families have estimates.
inline constexpr std::string_view kPlanOfItsOwn = "attention-decomposed";

/// Optional rewrite for channels-last convolutions by the library, which then compute bias, addition and relu too.
inline constexpr std::string_view kConvolutionEpilogue = "conv-epilogue";

/// Optional rewrite that rounds operands, which gives products to the half-precision tensor cores.
inline constexpr std::string_view kNarrow = "product-narrow";

/// Optional rewrite of a gated layer's product into two, which a kernel of halves computes together with the gate.
inline constexpr std::string_view kGated = "product-split";

} // namespace warpwright::search
