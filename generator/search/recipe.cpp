// JSON form of recipes, and replay of their rewrites; see recipe.h.
#include "generator/search/recipe.h"

#include "generator/search/graph_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpwright::search {

using nlohmann::json;

json to_json(const Recipe &recipe) {
  json anchors = json::object();
  for (const auto &[name, choice] : recipe.choices.anchors)
    anchors[name] = {{"family", choice.family},
                     {"fuse", choice.fuse},
                     {"channels_last", choice.channels_last},
                     {"twin", choice.twin}};
  return {{"rewrites", recipe.rewrites},
          {"anchors", std::move(anchors)},
          {"fast_math", recipe.choices.fast_math},
          {"configurations", recipe.choices.configurations}};
}

Result<Recipe> recipe_from_json(const json &document) {
  try {
    Recipe recipe{document.at("rewrites"), {}};
    for (const auto &[name, choice] : document.at("anchors").items())
      recipe.choices.anchors[name] = {choice.at("family"), choice.at("fuse"),
                                      choice.at("channels_last"), choice.value("twin", false)};
    document.at("configurations").get_to(recipe.choices.configurations);
    recipe.choices.fast_math = document.value("fast_math", 0);
    return recipe;
  } catch (const json::exception &error) {
    return fail(std::string("not a recipe: ") + error.what(),
                "Use a recipe of this version of Warpwright");
  }
}

Result<model::Graph> rewritten(model::Graph graph, const std::vector<std::string> &rewrites) {
  rewrites::Simplified simplified = rewrites::simplify(graph);
  if (simplified.applied == rewrites)
    return std::move(simplified.graph);
  for (const std::string &wanted : rewrites) {
    const auto legal = rewrites::rewrites(ops::GraphIndex(graph));
    const auto next = std::ranges::find_if(legal, [&](const rewrites::Rewrite &rewrite) {
      return rewrite_words(rewrite.rule, rewrite.node) == wanted;
    });
    if (next == legal.end())
      return fail("the rewrite " + wanted + " is not legal here");
    auto changed = rewrites::apply(graph, *next);
    if (!changed)
      return changed;
    graph = std::move(*changed);
  }
  return graph;
}

} // namespace warpwright::search
