// A graph with what is asked of it again and again: nodes by name, users of a value, positions.
// Thread: immutable.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <unordered_map>

namespace warpwright::ops {

class GraphIndex {
public:
  /// The graph must outlive the index and pass verify().
  explicit GraphIndex(const model::Graph &graph);

  const model::Graph &graph() const { return graph_; }
  /// @param name of a node that exists
  const model::Node &node(const std::string &name) const;
  std::size_t position(const std::string &name) const;
  /// Nodes that take the value, in graph order, each once.
  const std::vector<const model::Node *> &users(const std::string &name) const;
  /// Whether the graph's outputs or updates name it.
  bool is_result(const std::string &name) const;

private:
  const model::Graph &graph_;
  std::unordered_map<std::string, std::size_t> positions_;
  std::unordered_map<std::string, std::vector<const model::Node *>> users_;
};

} // namespace warpwright::ops
