// An op graph: what a torch module computes, traced at fixed shapes.
//
// Nodes stand in an order in which every node's inputs come before it. Op names and attributes are those of
// docs/internals/op-graph.md, close to ATen's and few: the tracer (runner/torch/python/trace.py) has
// normalised overloads, in-place forms and device variants away. Effects on module state (running statistics) are
// `updates`. What has no op of its own is "aten": a call of the ATen operator in `target`, opaque to rewrites. Its JSON is
// support/model/graph_json.h's. The graph leaves out autograd, device placement and memory: a plan decides those. Thread: values, any.
#pragma once

#include "support/model/dtype.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::model {

using Shape = std::vector<std::int64_t>;

/// @param strides in elements, one a dimension; empty: contiguous, the last dimension fastest
struct TensorType {
  Dtype dtype = Dtype::Float32;
  Shape shape;
  Shape strides;
  bool operator==(const TensorType &) const = default;
};

/// Elements of a shape; 1 for {}.
std::int64_t elements_of(const Shape &shape);
/// The strides of a type, spelled out.
Shape strides_of(const TensorType &type);
/// Whether the last dimension is fastest and nothing lies between elements.
bool is_contiguous(const TensorType &type);

using Attribute = std::variant<bool, std::int64_t, double, std::string, Shape>;
using Attributes = std::map<std::string, Attribute>;

struct Node {
  std::string name; ///< a C identifier, unique in the graph
  std::string op;   ///< "input", "parameter", "constant", "add", "conv", ...
  std::vector<std::string> inputs;
  Attributes attributes;
  /// One type a result; most ops have one. Of several, a node "item" {index} picks one.
  std::vector<TensorType> types;

  const TensorType &type() const { return types.front(); }
  bool operator==(const Node &) const = default;
};

/// Module state that the call changes: after it, the state `parameter` holds `value`.
struct Update {
  std::string parameter, value; ///< names of nodes
  bool operator==(const Update &) const = default;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<std::string> outputs;
  std::vector<Update> updates;
  bool operator==(const Graph &) const = default;
};

} // namespace warpwright::model
