#include "generator/elements/element_forward.h"

#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"

#include <algorithm>

namespace warpwright::elements {

using model::Node;
using model::Shape;

bool keeps_elements(const ops::GraphIndex &graph, const Node &node, const std::string &operand) {
  const Shape &from = graph.node(operand).type().shape, &to = node.type().shape;
  if (ops::op_of(node).to_result)
    return true;
  if (!ops::is_pointwise(node) && node.op != op::expand)
    return false;
  return model::elements_of(from) == model::elements_of(to) && from.size() <= to.size();
}

ops::Lanes forward(ElementPass &pass, const ops::GraphIndex &graph, const Node &node,
                   const std::string &operand, const ops::Lanes &lanes) {
  const Shape &from = graph.node(operand).type().shape, &to = node.type().shape;
  if (const ops::ToResult to_result = ops::op_of(node).to_result)
    return to_result(pass.math(), node, from, lanes);
  ops::Lanes moved;
  for (const auto &lane : lanes)
    std::ranges::copy(lane, moved.emplace_back(to.size()).end() -
                                static_cast<std::ptrdiff_t>(from.size()));
  return moved;
}

std::optional<std::vector<std::pair<std::string, ops::Lanes>>>
forward_all(ElementPass &pass, const ops::GraphIndex &graph, const std::vector<std::string> &nodes,
            const std::vector<std::string> &starts, const ops::Lanes &lanes) {
  std::vector<std::pair<std::string, ops::Lanes>> mapped;
  for (const std::string &start : starts)
    mapped.emplace_back(start, lanes);
  const auto find = [&](const std::string &name) {
    return std::ranges::find(mapped, name, [](const auto &entry) { return entry.first; });
  };
  for (const std::string &name : nodes) {
    if (find(name) != mapped.end())
      continue;
    const Node &node = graph.node(name);
    std::optional<ops::Lanes> place;
    for (const std::string &input : node.inputs) {
      const auto known = find(input);
      if (known == mapped.end() || !keeps_elements(graph, node, input))
        continue;
      ops::Lanes lanes_here = forward(pass, graph, node, input, known->second);
      if (place && *place != lanes_here)
        return std::nullopt;
      place = std::move(lanes_here);
    }
    if (place)
      mapped.emplace_back(name, std::move(*place));
  }
  return mapped;
}

bool may_follow(const ops::GraphIndex &graph, const std::vector<std::string> &nodes,
                const std::string &anchor) {
  ElementPass::Environment environment;
  Region region;
  int names = 0;
  environment.graph = &graph;
  environment.region = &region;
  environment.names = &names;
  std::string statements;
  ElementPass pass(environment, statements);
  ops::Lanes lanes(1);
  const Shape &shape = graph.node(anchor).type().shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    lanes[0].push_back(pass.math().atom("d" + std::to_string(d), {0, shape[d] - 1}));
  const auto mapped = forward_all(pass, graph, nodes, {anchor}, lanes);
  return mapped && std::ranges::all_of(nodes, [&](const std::string &name) {
           return std::ranges::any_of(*mapped,
                                      [&](const auto &entry) { return entry.first == name; });
         });
}

} // namespace warpwright::elements
