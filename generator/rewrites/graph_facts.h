// What rules ask about a graph's values: bounds, known constants, what they depend on.
//
// Bounds are of real arithmetic, not NaN-aware. Everything is computed once, in graph order. Thread: immutable.
#pragma once

#include "generator/ops/bounds.h"
#include "generator/ops/graph_index.h"

#include <optional>

namespace warpwright::rewrites {

class GraphFacts {
public:
  /// The index must outlive the facts.
  explicit GraphFacts(const ops::GraphIndex &index);

  const ops::GraphIndex &index() const { return index_; }
  const model::Node &node(const std::string &name) const { return index_.node(name); }
  const model::TensorType &type(const std::string &name) const { return node(name).type(); }
  ops::Bounds bounds(const std::string &name) const { return facts_[index_.position(name)].bounds; }
  /// The number that every element is, whatever inputs and parameters are.
  std::optional<double> constant(const std::string &name) const;
  bool depends_on_inputs(const std::string &name) const {
    return facts_[index_.position(name)].on_inputs;
  }
  bool depends_on_parameters(const std::string &name) const {
    return facts_[index_.position(name)].on_parameters;
  }
  /// Whether the only reader is one node, and the graph does not return it: then replacing that reader makes it dead.
  bool read_once(const std::string &name) const;

private:
  struct Fact {
    ops::Bounds bounds;
    bool on_inputs = false, on_parameters = false;
  };
  const ops::GraphIndex &index_;
  std::vector<Fact> facts_; ///< by position
};

/// An output of the graph whose value the inputs do not decide.
struct DegenerateOutput {
  std::string output;
  std::optional<double>
      constant; ///< what every element is; else it depends on parameters or varies with the index
};
std::vector<DegenerateOutput> degenerate_outputs(const model::Graph &graph);

} // namespace warpwright::rewrites
