#include "generator/elements/evaluations.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"

#include <algorithm>
#include <map>

namespace warpwright::elements {
namespace {

using model::Node;

// In units of ops::recompute_cost().
constexpr int kMostCost = 1000;
/// Cost up to which an element is rather computed again than stored and read.
constexpr double kCostOfMemory = 30;
constexpr std::size_t kMostPaths =
    64; ///< beyond that, a value is computed often enough for every purpose

/// Numbers of elements that are computed, by the views between the value and where it is needed. Readers behind the
/// same views ask for the same elements.
using Paths = std::map<std::string, double>;

double elements_of(const ops::GraphIndex &graph, const std::string &value) {
  return static_cast<double>(model::elements_of(graph.node(value).type().shape));
}

void add(Paths &paths, const std::string &path, double elements) {
  if (paths.size() < kMostPaths)
    paths[path] = std::max(paths[path], elements);
}

} // namespace

double evaluations(const ops::GraphIndex &graph, const std::string &value,
                   const std::set<std::string> &nodes) {
  const auto &all = graph.graph().nodes;
  const std::size_t first = graph.position(value);
  std::map<std::string, Paths> paths;
  for (std::size_t at = all.size(); at-- > first + 1;) {
    const Node &node = all[at];
    if (!nodes.contains(node.name))
      continue;
    const bool is_inline = ops::is_inline(node);
    Paths own = std::move(paths[node.name]);
    if (own.empty() && is_inline)
      add(own, "", elements_of(graph, node.name)); // nothing in the region reads it: it is stored
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string &input = node.inputs[i];
      if (input != value && !nodes.contains(input))
        continue;
      Paths &of_input = paths[input];
      const double elements = elements_of(graph, input);
      if (!is_inline)
        add(of_input, "", elements);
      for (const auto &[path, count] : own) {
        if (node.op == op::cat)
          add(of_input, path + "/" + node.name + "." + std::to_string(i),
              count * elements / elements_of(graph, node.name));
        else if (ops::is_view(node) && node.op != op::reshape)
          add(of_input, path + "/" + node.name, std::min(count, elements_of(graph, node.name)));
        else
          add(of_input, path, std::min(count, elements));
      }
    }
  }
  double total = 0;
  for (const auto &[path, elements] : paths[value])
    total += elements;
  return total / std::max(1.0, elements_of(graph, value));
}

int cost_in_place(const ops::GraphIndex &graph, const std::string &value,
                  const std::function<bool(const std::string &)> &is_stored) {
  int cost = ops::recompute_cost(graph.node(value));
  for (const std::string &input : graph.node(value).inputs)
    if (cost < kMostCost && !is_stored(input))
      cost += cost_in_place(graph, input, is_stored);
  return std::min(cost, kMostCost);
}

namespace {

/// Where a walk towards memory stands: the views that it came through, and the distance along each dimension since.
struct Position {
  std::string views;
  std::vector<std::int64_t> offsets;
  auto operator<=>(const Position &) const = default;
};

/// The place in the operand of what stands at `place` in a node's result.
Position behind(const ops::GraphIndex &graph, const Node &node, Position place) {
  const std::size_t rank = node.type().shape.size();
  place.offsets.resize(rank, 0);
  if (node.op == op::slice && ops::integer_attribute(node, "step", 1) == 1) {
    place.offsets[static_cast<std::size_t>(ops::integer_attribute(node, "dim"))] +=
        ops::integer_attribute(node, "start");
  } else if (node.op == op::pad) {
    const model::Shape low = ops::list_attribute(node, "low", rank, 0);
    for (std::size_t d = 0; d < rank; ++d)
      place.offsets[d] -= low[d];
  } else if (ops::is_view(node)) {
    for (const std::int64_t offset : place.offsets)
      place.views += std::to_string(offset) + ",";
    place = {place.views + node.name + "/", {}};
  } else if (graph.node(node.inputs.front()).type().shape.size() != rank) {
    place = {place.views + node.name + "/", {}};
  }
  return place;
}

} // namespace

int loads_in_place(const ops::GraphIndex &graph, const std::string &value,
                   const std::function<bool(const std::string &)> &is_stored) {
  std::set<std::pair<std::string, Position>> seen, loads;
  std::vector<std::pair<std::string, Position>> open{{value, {}}};
  while (!open.empty() && seen.size() < 16 * kMostPaths && loads.size() < kMostPaths) {
    auto [name, place] = std::move(open.back());
    open.pop_back();
    const Node &node = graph.node(name);
    std::vector<std::string> inputs = node.inputs;
    if (node.op == op::cat) { // an element is one part's: one that is computed, if there is one
      const auto computed = std::ranges::find_if_not(inputs, is_stored);
      inputs = {computed == inputs.end() ? inputs.front() : *computed};
    }
    if (inputs.empty())
      continue;
    const Position below = behind(graph, node, std::move(place));
    for (const std::string &input : inputs) {
      std::pair<std::string, Position> next{input, below};
      if (is_stored(input))
        loads.insert(std::move(next));
      else if (!ops::is_generated(graph.node(input)) && seen.insert(next).second)
        open.push_back(std::move(next));
    }
  }
  return static_cast<int>(open.empty() ? loads.size() : kMostPaths);
}

bool is_computed_too_often(const ops::GraphIndex &graph, const std::string &value,
                           const std::set<std::string> &nodes) {
  const double again = evaluations(graph, value, nodes) - 1;
  const auto has_loops = [&](const std::string &name) { return !ops::is_inline(graph.node(name)); };
  return again > 0 && again * cost_in_place(graph, value, has_loops) > kCostOfMemory;
}

} // namespace warpwright::elements
