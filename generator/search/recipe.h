// The recipe of a plan of a traced graph: the rewrites and choices that a search ended with, as
// JSON that outlives the process.
//
// A search that is given a recipe tries it first, so that its plan need not be found again. A
// recipe is never trusted: where the graph has changed, a rewrite may no longer match and a family
// may give way, and the plan is verified and measured as any other.
#pragma once

#include "generator/planning/plan_builder.h"

#include <nlohmann/json_fwd.hpp>

namespace warpwright::search {

struct Recipe {
  std::vector<std::string> rewrites; ///< "matmul-diagonal(%mm)", in order
  planning::PlanChoices choices;
  bool operator==(const Recipe &) const = default;
};

nlohmann::json to_json(const Recipe &recipe);
/// Errors: a document of another form.
Result<Recipe> recipe_from_json(const nlohmann::json &document);

/// The graph after the rewrites, in their order. Errors: a rewrite that is not legal at its turn.
Result<model::Graph> rewritten(model::Graph graph, const std::vector<std::string> &rewrites);

} // namespace warpwright::search
