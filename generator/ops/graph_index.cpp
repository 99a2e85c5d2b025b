#include "generator/ops/graph_index.h"

#include <algorithm>

namespace warpwright::ops {

GraphIndex::GraphIndex(const model::Graph &graph) : graph_(graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    positions_.emplace(graph.nodes[i].name, i);
  for (const model::Node &node : graph.nodes)
    for (const std::string &input : node.inputs) {
      auto &users = users_[input];
      if (users.empty() || users.back() != &node)
        users.push_back(&node);
    }
}

const model::Node &GraphIndex::node(const std::string &name) const {
  return graph_.nodes[positions_.at(name)];
}

std::size_t GraphIndex::position(const std::string &name) const { return positions_.at(name); }

const std::vector<const model::Node *> &GraphIndex::users(const std::string &name) const {
  static const std::vector<const model::Node *> none;
  const auto found = users_.find(name);
  return found == users_.end() ? none : found->second;
}

bool GraphIndex::is_result(const std::string &name) const {
  return std::ranges::find(graph_.outputs, name) != graph_.outputs.end() ||
         std::ranges::any_of(graph_.updates,
                             [&](const model::Update &update) { return update.value == name; });
}

} // namespace warpwright::ops
