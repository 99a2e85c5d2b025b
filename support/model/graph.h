// Op graph: the computation of a torch module, traced at fixed shapes.
//
// Every node comes after its inputs. docs/internals/op-graph.md lists the op names and attributes,
// which are few and close to ATen's: the tracer (runner/torch/python/trace.py) normalizes
// overloads, in-place forms and device variants. Changes of module state (running statistics) are
// `updates`. An operator without an op of its own becomes the op "aten": a call of the ATen
// operator in `target`, opaque to rewrites. support/model/graph_json.h has the JSON. The graph
// leaves out autograd, device placement and memory, which a plan decides. Thread: values, any.
#pragma once

#include "support/model/dtype.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::model {

using Shape = std::vector<std::int64_t>;

/// Type of a tensor. `strides` are in elements, one per dimension; empty: contiguous, the last
/// dimension fastest.
struct TensorType {
  Dtype dtype = Dtype::Float32;
  Shape shape;
  Shape strides;
  bool operator==(const TensorType &) const = default;
};

/// Elements of a shape; 1 for {}.
std::int64_t elements_of(const Shape &shape);
/// Strides of a type, computed if the type has none.
Shape strides_of(const TensorType &type);
/// Whether the last dimension is fastest and there are no gaps between elements.
bool is_contiguous(const TensorType &type);

using Attribute = std::variant<bool, std::int64_t, double, std::string, Shape>;
using Attributes = std::map<std::string, Attribute>;

struct Node {
  std::string name; ///< a C identifier, unique in the graph
  std::string op;   ///< "input", "parameter", "constant", "add", "conv", ...
  std::vector<std::string> inputs;
  Attributes attributes;
  /// One type per result; most ops have one result. A node "item" {index} selects one of several.
  std::vector<TensorType> types;

  const TensorType &type() const { return types.front(); }
  bool operator==(const Node &) const = default;
};

/// Change of module state: after the call, the state `parameter` holds `value`.
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
