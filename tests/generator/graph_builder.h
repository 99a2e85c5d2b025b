// Writes op graphs in tests: `auto x = g.input("x", {4, 8}); auto y = g.op("relu", {x}); model::Graph graph = g.graph({y});`.
//
// The type of a node is what the reference interpreter gives on zeros, so graphs of tests should be small; ops whose result cannot be
// derived (reshape, expand, cast, iota, adaptive pools, upsample) take their type. Names are `op_1`, `op_2`... Mistakes throw
// std::runtime_error, which a test reports. Thread: one.
#pragma once

#include "tests/generator/graph_interpreter.h"

#include <initializer_list>
#include <optional>

namespace warpwright::test {

class GraphBuilder {
public:
  std::string input(const std::string &name, model::Shape shape,
                    model::Dtype dtype = model::Dtype::Float32);
  std::string parameter(const std::string &name, model::Shape shape,
                        model::Dtype dtype = model::Dtype::Float32);
  /// A scalar.
  std::string constant(double value, model::Dtype dtype = model::Dtype::Float32);
  /// A node whose type follows from its op.
  std::string op(const std::string &op, std::vector<std::string> inputs,
                 model::Attributes attributes = {});
  /// A node of a stated shape; the dtype is the first input's unless stated.
  std::string shaped(const std::string &op, std::vector<std::string> inputs, model::Shape shape,
                     model::Attributes attributes = {},
                     std::optional<model::Dtype> dtype = std::nullopt);
  std::string reshape(const std::string &x, model::Shape shape) {
    return shaped("reshape", {x}, std::move(shape));
  }
  std::string cast(const std::string &x, model::Dtype dtype) {
    return shaped("cast", {x}, type(x).shape, {}, dtype);
  }
  /// A node as it is; adds nothing to it.
  std::string node(model::Node node);
  void update(const std::string &parameter, const std::string &value) {
    graph_.updates.push_back({parameter, value});
  }

  const model::TensorType &type(const std::string &name) const;
  /// The graph so far, with these outputs.
  model::Graph graph(std::vector<std::string> outputs) const;

private:
  std::string leaf(const std::string &op, const std::string &name, model::Shape shape,
                   model::Dtype dtype);
  model::Graph graph_;
};

} // namespace warpwright::test
