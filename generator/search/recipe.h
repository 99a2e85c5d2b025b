// Recipe of a plan of a traced graph: the final rewrites and choices of a search, as JSON that outlives the process.
//
// A search that is given a recipe tries it first, so it does not have to find the plan again. A recipe is never
// trusted: if the graph has changed, a rewrite may no longer match and a family may no longer apply, and the plan is
// verified and measured like any other.
#pragma once

#include "generator/planning/plan_builder.h"

#include <nlohmann/json_fwd.hpp>

namespace warpwright::search {

struct Recipe {
  std::vector<std::string> rewrites; ///< "matmul-diagonal(%mm)", in order
  planning::PlanChoices choices;
  bool operator==(const Recipe &) const = default;
};

/// Leaves out kernels of other authors (PlanChoices::written).
nlohmann::json to_json(const Recipe &recipe);
/// Errors: the document is not a recipe.
Result<Recipe> recipe_from_json(const nlohmann::json &document);

/// The graph after the rewrites, applied in order. Errors: a rewrite is not legal when its turn comes.
Result<model::Graph> rewritten(model::Graph graph, const std::vector<std::string> &rewrites);

} // namespace warpwright::search
