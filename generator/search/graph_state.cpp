// Single changes of a state, and the plan of one; see graph_state.h.
#include "generator/search/graph_state.h"

#include <algorithm>

namespace warpwright::search {

Result<planning::BuiltPlan> build_choices(const GraphState &state,
                                          const planning::PlanBuffers &buffers,
                                          const elements::DeviceFacts &facts) {
  elements::DeviceFacts allowed = facts;
  allowed.tf32 = facts.tf32 && !state.exact;
  planning::PlanChoices choices = state.choices;
  choices.fast_math = std::min(choices.fast_math, facts.fast_math);
  if (!allowed.tf32)
    std::erase_if(choices.configurations, [](const auto &entry) { return is_tf32(entry.second); });
  auto built = planning::build_plan(state.graph, buffers, allowed, choices);
  if (!built)
    return built;
  for (const planning::BuiltRegion &region : built->regions)
    if (region.configuration.contains("math"))
      built->applied.configurations[planning::region_key(region.planned.region)] =
          region.configuration;
  return built;
}

Result<planning::BuiltPlan> build_state(const GraphState &state,
                                        const planning::PlanBuffers &buffers,
                                        const elements::DeviceFacts &facts) {
  auto built = build_choices(state, buffers, facts);
  if (!built)
    return built;
  model::Plan &plan = built->plan;
  plan.moves.insert(plan.moves.begin(), state.rewrites.begin(), state.rewrites.end());
  if (built->applied.fast_math > 0)
    plan.moves.push_back("fast-math(" + std::to_string(built->applied.fast_math) + ")");
  return built;
}

std::vector<std::string> configure(GraphState &state, const AlikeRegions &regions,
                                   const elements::Configuration &configuration) {
  std::vector<std::string> keys;
  for (const planning::BuiltRegion *region : regions)
    if (std::ranges::find(region->configurations, configuration) != region->configurations.end())
      keys.push_back(planning::region_key(region->planned.region));
  for (const std::string &key : keys)
    state.choices.configurations[key] = configuration;
  return keys;
}

void choose(GraphState &state, const AlikeRegions &regions, const planning::AnchorChoice &choice) {
  for (const planning::BuiltRegion *region : regions) {
    const std::string &anchor = region->planned.region.anchor;
    state.choices.anchors[anchor] = choice;
    state.choices.configurations.erase(anchor);
    state.choices.written.erase(anchor);
  }
}

Result<void> rewrite(GraphState &state, const rewrites::Rewrite &rewrite) {
  auto changed = rewrites::apply(state.graph, rewrite);
  if (!changed)
    return std::unexpected(changed.error());
  state.graph = std::move(*changed);
  state.rewrites.push_back(rewrite_words(rewrite.rule, rewrite.node));
  return {};
}

std::string rewrite_words(std::string_view rule, const std::string &node) {
  return std::string(rule) + "(%" + node + ")";
}

bool is_tf32(const elements::Configuration &configuration) {
  const auto math = configuration.find("math");
  return math != configuration.end() && (math->second == 1 || math->second == 2);
}

bool uses_tf32(const planning::BuiltPlan &built) {
  return std::ranges::any_of(built.regions, [](const planning::BuiltRegion &region) {
    return is_tf32(region.configuration) ||
           (region.planned.choice.channels_last && !region.planned.family);
  });
}

bool holds(const model::Graph &graph, const std::string &name) {
  return std::ranges::find(graph.nodes, name, &model::Node::name) != graph.nodes.end();
}

} // namespace warpwright::search
