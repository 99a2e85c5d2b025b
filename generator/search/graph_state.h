// A state of a search over plans of a traced module, and the single changes that lead to others.
//
// Starts (plan_starts.h), proposals (torch_search.h) and walks (plan_walk.h) are such states. They
// decide which changes are made, and in what order.
#pragma once

#include "generator/planning/plan_builder.h"
#include "generator/rewrites/rewrite.h"

namespace warpwright::search {

struct GraphState {
  model::Graph graph;                ///< after rewrites
  std::vector<std::string> rewrites; ///< "matmul-diagonal(%mm)"
  planning::PlanChoices choices;
  bool exact = false; ///< no TF32, whatever the device and its reference may do
};

/// As build_plan(), without the choices of TF32 where it is not allowed. The applied choices of the
/// result name the arithmetic, because a recipe does not say what it was chosen for.
Result<planning::BuiltPlan> build_choices(const GraphState &state,
                                          const planning::PlanBuffers &buffers,
                                          const elements::DeviceFacts &facts);
/// build_choices(), with the rewrites as the plan's first moves.
Result<planning::BuiltPlan> build_state(const GraphState &state,
                                        const planning::PlanBuffers &buffers,
                                        const elements::DeviceFacts &facts);

/// Regions that are alike (region_kind.h), of one built plan.
using AlikeRegions = std::vector<const planning::BuiltRegion *>;

/// Chooses a configuration for those of the regions that have it.
/// @return their keys in the choices
std::vector<std::string> configure(GraphState &state, const AlikeRegions &regions,
                                   const elements::Configuration &configuration);
/// Chooses family, fusion and layout for the regions' anchors, and drops their configurations.
void choose(GraphState &state, const AlikeRegions &regions, const planning::AnchorChoice &choice);
/// Applies a rewrite. Errors: it is not legal here.
Result<void> rewrite(GraphState &state, const rewrites::Rewrite &rewrite);

/// "matmul-diagonal(%mm)".
std::string rewrite_words(std::string_view rule, const std::string &node);

/// Does the graph have a node of this name? The parts of norms that channels-last plans write out
/// are in the plan's graph only.
bool holds(const model::Graph &graph, const std::string &name);

/// Does a configuration multiply float32 in TF32? (families/convolution/convolution.cpp)
bool is_tf32(const elements::Configuration &configuration);
/// Does any region of a plan? The library's channels-last convolutions do.
bool uses_tf32(const planning::BuiltPlan &built);

} // namespace warpwright::search
