#include "generator/ops/names.h"
#include "generator/rewrites/graph_facts.h"
#include "generator/rewrites/rewrite.h"

#include <algorithm>
#include <unordered_set>

namespace warpwright::rewrites {
namespace {

bool is_leaf(const model::Node &node) { return node.op == op::input || node.op == op::parameter; }

/// Replaces all uses of `from` by `to`.
void rename_uses(model::Graph &graph, const std::string &from, const std::string &to) {
  for (model::Node &node : graph.nodes)
    std::ranges::replace(node.inputs, from, to);
}

bool is_result(const model::Graph &graph, const std::string &name) {
  return std::ranges::find(graph.outputs, name) != graph.outputs.end() ||
         std::ranges::any_of(graph.updates,
                             [&](const model::Update &update) { return update.value == name; });
}

/// Returns true where `item` nodes read the node: a replacement could not provide its other results.
bool has_items(const ops::GraphIndex &index, const model::Node &node) {
  return std::ranges::any_of(index.users(node.name),
                             [](const model::Node *user) { return user->op == op::item; });
}

std::optional<Rewrite> matched(const GraphFacts &facts, const Rule &rule, const model::Node &node) {
  if (is_leaf(node) || has_items(facts.index(), node))
    return std::nullopt;
  std::optional<Replacement> replacement = rule.match(facts, node);
  if (!replacement || replacement->value == node.name)
    return std::nullopt;
  // The copy that a result needs must not be replaced with its source.
  if (node.op == op::reshape && facts.index().is_result(node.name) &&
      replacement->value == node.inputs[0] && facts.type(node.inputs[0]).shape == node.type().shape)
    return std::nullopt;
  return Rewrite{rule.name, rule.always, node.name, std::move(*replacement)};
}

/// Returns all matches of the first rule that matches anywhere: clean-ups end before heavier rules look at the graph.
std::vector<Rewrite> first_rewrites(const GraphFacts &facts, const Simplification &how) {
  std::vector<Rewrite> found;
  for (const Rule &rule : rules()) {
    if (!rule.always || std::ranges::find(how.without, rule.name) != how.without.end())
      continue;
    for (const model::Node &node : facts.index().graph().nodes)
      if (auto rewrite = matched(facts, rule, node))
        found.push_back(std::move(*rewrite));
    if (!found.empty())
      break;
  }
  return found;
}

/// Returns true where the nodes that a rewrite of an earlier graph names still exist. Values keep their meaning.
bool still_applies(const model::Graph &graph, const Rewrite &rewrite) {
  std::unordered_set<std::string_view> names;
  for (const model::Node &node : graph.nodes)
    names.insert(node.name);
  if (!names.contains(rewrite.node))
    return false;
  for (const model::Node &node : rewrite.replacement.nodes)
    if (!names.insert(node.name).second ||
        !std::ranges::all_of(node.inputs,
                             [&](const std::string &input) { return names.contains(input); }))
      return false;
  return names.contains(rewrite.replacement.value);
}

} // namespace

std::vector<Rewrite> rewrites(const ops::GraphIndex &index) {
  const GraphFacts facts(index);
  std::vector<Rewrite> found;
  for (const model::Node &node : index.graph().nodes)
    for (const Rule &rule : rules())
      if (auto rewrite = matched(facts, rule, node))
        found.push_back(std::move(*rewrite));
  return found;
}

std::optional<Rewrite> first_rewrite(const ops::GraphIndex &index, std::string_view name) {
  const GraphFacts facts(index);
  const auto rule = std::ranges::find(rules(), name, &Rule::name);
  for (const model::Node &node : index.graph().nodes)
    if (auto rewrite = rule == rules().end() ? std::nullopt : matched(facts, *rule, node))
      return rewrite;
  return std::nullopt;
}

model::Graph without_dead_nodes(model::Graph graph) {
  std::unordered_set<std::string> needed(graph.outputs.begin(), graph.outputs.end());
  for (const model::Update &update : graph.updates)
    needed.insert(update.value);
  std::vector<model::Node> kept;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    model::Node &node = graph.nodes[i];
    if (!is_leaf(node) && !needed.contains(node.name))
      continue;
    needed.insert(node.inputs.begin(), node.inputs.end());
    kept.push_back(std::move(node));
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
  return graph;
}

namespace {

/// Applies a rewrite, without removing dead nodes. Errors: as apply().
Result<void> apply_in_place(model::Graph &result, const Rewrite &rewrite) {
  const auto at = std::ranges::find(result.nodes, rewrite.node, &model::Node::name);
  if (at == result.nodes.end())
    return fail("rewrite " + std::string(rewrite.rule) + " names " + rewrite.node +
                ", which the graph has not");
  const model::Node old = *at;
  const bool returned = is_result(result, old.name);
  const auto position = at - result.nodes.begin();
  result.nodes.insert(result.nodes.begin() + position, rewrite.replacement.nodes.begin(),
                      rewrite.replacement.nodes.end());
  std::string value = rewrite.replacement.value;
  const auto stands_in = std::ranges::find(result.nodes, value, &model::Node::name);
  if (stands_in == result.nodes.end())
    return fail("rewrite " + std::string(rewrite.rule) + " gives no value");
  if (stands_in->type().shape != old.type().shape || stands_in->type().dtype != old.type().dtype)
    return fail("rewrite " + std::string(rewrite.rule) + " of " + old.name +
                " gives another shape or dtype");
  const bool is_new = std::ranges::find(rewrite.replacement.nodes, value, &model::Node::name) !=
                      rewrite.replacement.nodes.end();
  // A result needs memory of its own: a leaf, another result or a value with another layout is copied.
  const bool takes_over =
      is_new || (returned && !is_leaf(*stands_in) && !is_result(result, value) &&
                 stands_in->types.size() == 1 &&
                 model::strides_of(stands_in->type()) == model::strides_of(old.type()));
  model::Node &replaced =
      result.nodes[static_cast<std::size_t>(position) + rewrite.replacement.nodes.size()];
  if (takes_over) {
    if (returned)
      stands_in->types.front().strides = old.type().strides;
    stands_in->name = old.name;
    replaced.name.clear();
    rename_uses(result, value, old.name);
    std::erase_if(result.nodes, [](const model::Node &node) { return node.name.empty(); });
  } else {
    rename_uses(result, old.name, value);
    if (returned)
      replaced = {old.name, op::reshape, {value}, {}, {old.type()}};
  }
  return {};
}

} // namespace

Result<model::Graph> apply(const model::Graph &graph, const Rewrite &rewrite) {
  model::Graph result = graph;
  if (auto applied = apply_in_place(result, rewrite); !applied)
    return std::unexpected(applied.error());
  return without_dead_nodes(std::move(result));
}

Simplified simplify(model::Graph graph, const Simplification &how) {
  Simplified simplified{.graph = without_dead_nodes(std::move(graph)), .applied = {}};
  // Rules only ever save work, so this ends; the bound is for a pair of them that would undo each other.
  const std::size_t most = 50 * (simplified.graph.nodes.size() + 10);
  while (simplified.applied.size() < most) {
    const ops::GraphIndex index(simplified.graph);
    const std::vector<Rewrite> found = first_rewrites(GraphFacts(index), how);
    model::Graph graph = simplified.graph;
    const std::size_t before = simplified.applied.size();
    for (const Rewrite &rewrite : found)
      if (still_applies(graph, rewrite) && apply_in_place(graph, rewrite))
        simplified.applied.push_back(std::string(rewrite.rule) + "(%" + rewrite.node + ")");
    if (simplified.applied.size() == before)
      break;
    simplified.graph = without_dead_nodes(std::move(graph));
  }
  return simplified;
}

} // namespace warpwright::rewrites
