// What makes a plan of a traced graph again: the rewrites and choices that a search ended with, as JSON that outlives the process.
//
// A search begun with a recipe tries it first, so what was found once need not be found again. A recipe is never trusted: where the graph
// has changed a rewrite may no longer match, a family may give way, and the plan is verified and measured as any other. Thread: pure functions.
#pragma once

#include "generator/planning/plan_builder.h"

#include <nlohmann/json_fwd.hpp>

namespace warpwright::generator {

struct Recipe {
  std::vector<std::string> rewrites; ///< "matmul-diagonal(%mm)", in order
  PlanChoices choices;
  bool operator==(const Recipe &) const = default;
};

nlohmann::json to_json(const Recipe &recipe);
/// Errors: a document of another form.
Result<Recipe> recipe_from_json(const nlohmann::json &document);

/// The graph after the rewrites. Errors: one that is not legal where its turn comes.
Result<model::Graph> rewritten(model::Graph graph, const std::vector<std::string> &rewrites);

} // namespace warpwright::generator
