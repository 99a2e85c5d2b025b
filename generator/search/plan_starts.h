// Where a search over plans of a graph begins: whole choices that estimates or experience favour, and plain ones to fall back on.
//
// torch_search.h tries them in this order; plan_walk.h offers them as moves. Leaves out single changes of a plan, which those two make.
// Thread: pure functions.
#pragma once

#include "generator/planning/plan_builder.h"

#include <string_view>

namespace warpwright::generator {

struct PlanStart {
  /// "mixture", "ours", "library", "channels_last", "exact", "plain", "alone", or the rule that was applied everywhere.
  std::string_view name;
  model::Graph graph;                ///< after rewrites
  std::vector<std::string> rewrites; ///< "matmul-diagonal(%mm)"
  PlanChoices choices;
  bool exact = false;    ///< no TF32, whatever the reference may do
  bool fallback = false; ///< for when nothing else is right or left
};

/// In the order to be tried, the fallbacks among themselves likewise.
std::vector<PlanStart> plan_starts(const model::Graph &traced, const DeviceFacts &facts);

/// A rewrite that is a choice, wherever it is legal, and what is always good after it.
/// @return graph and rewrites; nullopt where it is legal nowhere
std::optional<PlanStart> rewritten_everywhere(const PlanStart &base, std::string_view rule);

/// As build_plan(), by choices of which some were made where TF32 was allowed. The arithmetic is pinned in what was applied, because what
/// it was chosen for is no part of a recipe.
/// @param exact no TF32, whatever the device and its reference may do
Result<BuiltPlan> build_choices(const model::Graph &graph, const PlanBuffers &buffers,
                                const DeviceFacts &facts, PlanChoices choices, bool exact);

/// The choice among rewrites that is as likely right as not; of the others the families know better.
inline constexpr std::string_view kPlanOfItsOwn = "attention-decomposed";

/// "matmul-diagonal(%mm)".
std::string rewrite_words(std::string_view rule, const std::string &node);

/// Products, convolutions and attention: what a library's own kernels are for.
bool is_heavy(const model::Node &node);

/// Whether it multiplies float32 in TF32: of convolutions, see families/convolution/convolution.cpp.
bool is_tf32(const Configuration &configuration);

} // namespace warpwright::generator
