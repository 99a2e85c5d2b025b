// Facts about a graph's values that rules ask for: bounds, known constants, dependence on inputs and parameters. Bounds
// are of real arithmetic and ignore NaN. All facts are computed once, in graph order.
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
  /// Returns the number that every element is, whatever inputs and parameters are; nullopt where there is none.
  std::optional<double> constant(const std::string &name) const;
  bool depends_on_inputs(const std::string &name) const {
    return facts_[index_.position(name)].on_inputs;
  }
  bool depends_on_parameters(const std::string &name) const {
    return facts_[index_.position(name)].on_parameters;
  }
  /// Returns true where one node is the only reader and the graph does not return the value: replacing the reader makes
  /// the value dead.
  bool read_once(const std::string &name) const;

private:
  struct Fact {
    ops::Bounds bounds;
    bool on_inputs = false, on_parameters = false;
  };
  const ops::GraphIndex &index_;
  std::vector<Fact> facts_; ///< by position
};

/// An output of the graph whose value does not depend on the inputs.
struct DegenerateOutput {
  std::string output;
  std::optional<double>
      constant; ///< value of every element; absent: it depends on parameters or varies
};
std::vector<DegenerateOutput> degenerate_outputs(const model::Graph &graph);

} // namespace warpwright::rewrites
