// Where a search over plans of a graph begins: whole choices that estimates or experience favour, and plain ones to fall back on.
//
// torch_search.h tries them in this order; plan_walk.h offers them as moves. Leaves out single changes of a plan, which those two make.
// Thread: pure functions.
#pragma once

#include "generator/search/graph_state.h"

#include <string_view>

namespace warpwright::generator {

struct PlanStart : GraphState {
  /// "mixture", "ours", "library", "channels_last", "exact", "plain", "alone", or the rule that was applied everywhere.
  std::string_view name;
  bool fallback = false; ///< for when nothing else is right or left
};

/// In the order to be tried, the fallbacks among themselves likewise.
std::vector<PlanStart> plan_starts(const model::Graph &traced, const DeviceFacts &facts);

/// A rewrite that is a choice, wherever it is legal, and what is always good after it.
/// @return graph and rewrites; nullopt where it is legal nowhere
std::optional<PlanStart> rewritten_everywhere(const GraphState &base, std::string_view rule);

/// The choice among rewrites that is as likely right as not; of the others the families know better.
inline constexpr std::string_view kPlanOfItsOwn = "attention-decomposed";

} // namespace warpwright::generator
