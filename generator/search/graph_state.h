// A state of a search over plans of a traced module, and the single changes that lead to others.
//
// Starts (plan_starts.h), proposals (torch_search.h) and walks (plan_walk.h) are such states. Those files decide which
// changes are made, and in which order.
#pragma once

#include "generator/planning/plan_builder.h"
#include "generator/rewrites/rewrite.h"

namespace warpwright::search {

struct GraphState {
  model::Graph graph;                ///< after rewrites
  std::vector<std::string> rewrites; ///< "matmul-diagonal(%mm)"
  planning::PlanChoices choices;
  bool exact = false; ///< no TF32, even if the device and the reference allow it
};

/// build_plan() without TF32 choices if TF32 is not allowed. The result's applied choices include the arithmetic of
/// each region, because a recipe does not record the device.
Result<planning::BuiltPlan> build_choices(const GraphState &state,
                                          const planning::PlanBuffers &buffers,
                                          const elements::DeviceFacts &facts);
/// build_choices() with the rewrites as the plan's first moves.
Result<planning::BuiltPlan> build_state(const GraphState &state,
                                        const planning::PlanBuffers &buffers,
                                        const elements::DeviceFacts &facts);

/// Regions of one built plan that are alike (region_kind.h).
using AlikeRegions = std::vector<const planning::BuiltRegion *>;

/// Chooses a configuration for those of the regions that offer it.
/// @return the keys of these regions in the choices
std::vector<std::string> configure(GraphState &state, const AlikeRegions &regions,
                                   const elements::Configuration &configuration);
/// Chooses family, fusion and layout for the regions' anchors, and drops their configurations and written kernels.
void choose(GraphState &state, const AlikeRegions &regions, const planning::AnchorChoice &choice);
/// Applies a rewrite. Errors: the rewrite is not legal here.
Result<void> rewrite(GraphState &state, const rewrites::Rewrite &rewrite);

/// Text of a rewrite, such as "matmul-diagonal(%mm)".
std::string rewrite_words(std::string_view rule, const std::string &node);

/// True if the graph has a node of this name. Expanded parts of
/// norms in channels-last plans are only in the plan's graph.
bool holds(const model::Graph &graph, const std::string &name);

/// True if a configuration multiplies float32 in TF32 (families/convolution/convolution.cpp).
bool is_tf32(const elements::Configuration &configuration);
/// True if any region of a plan uses TF32, as the library's channels-last convolutions do.
bool uses_tf32(const planning::BuiltPlan &built);

} // namespace warpwright::search
