// Starts of a search over plans of a graph: whole choices that estimates or experience favor, and
// plain ones as fallbacks.
//
// torch_search.h tries them in this order; plan_walk.h offers them as moves. Leaves out single
// changes of a plan, which those two make.
#pragma once

#include "generator/search/graph_state.h"

#include <string_view>

namespace warpwright::search {

struct PlanStart : GraphState {
  /// "mixture", "ours", "library", "channels_last", "exact", "plain", "alone", or the name of the
  /// rule that was applied everywhere.
  std::string_view name;
  bool fallback = false; ///< for when nothing else is right or left
};

/// The starts in the order to be tried; so are the fallbacks among them.
std::vector<PlanStart> plan_starts(const model::Graph &traced, const elements::DeviceFacts &facts);

/// A state after an optional rewrite wherever it is legal, and the rewrites that are always good
/// after it.
/// @return nullopt where the rewrite is legal nowhere
std::optional<PlanStart> rewritten_everywhere(const GraphState &base, std::string_view rule);

/// A rewrite that is always good, but that kPlanOfItsOwn undoes.
inline constexpr std::string_view kAttention = "attention";

/// The optional rewrite that is as likely right as not; families have estimates for the others.
inline constexpr std::string_view kPlanOfItsOwn = "attention-decomposed";

} // namespace warpwright::search
