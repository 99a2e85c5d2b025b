// Index of a graph: nodes by name, users of each value, positions.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <unordered_map>

namespace warpwright::ops {

class GraphIndex {
public:
  /// The graph must outlive the index and pass verify_graph().
  explicit GraphIndex(const model::Graph &graph);

  const model::Graph &graph() const { return graph_; }
  /// @param name of a node that exists
  const model::Node &node(const std::string &name) const;
  std::size_t position(const std::string &name) const;
  /// Returns the nodes that take the value, in graph order, each once.
  const std::vector<const model::Node *> &users(const std::string &name) const;
  /// Returns true where the graph's outputs or updates name the value.
  bool is_result(const std::string &name) const;

private:
  const model::Graph &graph_;
  std::unordered_map<std::string, std::size_t> positions_;
  std::unordered_map<std::string, std::vector<const model::Node *>> users_;
};

} // namespace warpwright::ops
