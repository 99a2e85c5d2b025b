// A state of a search over plans of a traced module, and the single changes that lead to others.
//
// Starts (plan_starts.h), proposals (torch_search.h) and walks (plan_walk.h) are such states; which changes are made, and in what order, is
// theirs to say. Thread: values; pure functions.
#pragma once

#include "generator/planning/plan_builder.h"
#include "generator/rewrites/rewrite.h"

namespace warpwright::generator {

struct GraphState {
  model::Graph graph;                ///< after rewrites
  std::vector<std::string> rewrites; ///< "matmul-diagonal(%mm)"
  PlanChoices choices;
  bool exact = false; ///< no TF32, whatever the device and its reference may do
};

/// As build_plan(), by choices of which some were made where TF32 was allowed. The arithmetic is pinned in what was applied, because what
/// it was chosen for is no part of a recipe.
Result<BuiltPlan> build_choices(const GraphState &state, const PlanBuffers &buffers,
                                const DeviceFacts &facts);
/// The same, with the rewrites as the plan's first moves.
Result<BuiltPlan> build_state(const GraphState &state, const PlanBuffers &buffers,
                              const DeviceFacts &facts);

/// Regions that are alike (region_kind.h), of one built plan.
using AlikeRegions = std::vector<const BuiltRegion *>;

/// The configuration for those of the regions that have it.
/// @return their keys in the choices
std::vector<std::string> configure(GraphState &state, const AlikeRegions &regions,
                                   const Configuration &configuration);
/// Who writes the regions' anchors, and whether they are fused; their configurations are forgotten.
void choose(GraphState &state, const AlikeRegions &regions, const AnchorChoice &choice);
/// Errors: a rewrite that is not legal here.
Result<void> rewrite(GraphState &state, const Rewrite &rewrite);

/// "matmul-diagonal(%mm)".
std::string rewrite_words(std::string_view rule, const std::string &node);

/// Whether it multiplies float32 in TF32: of convolutions, see families/convolution/convolution.cpp.
bool is_tf32(const Configuration &configuration);
/// The same of a region; the library's channels-last convolutions are in TF32.
bool is_tf32(const BuiltRegion &region);

} // namespace warpwright::generator
