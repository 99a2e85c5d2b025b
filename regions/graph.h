// A graph of a compiler's ATen operators, as the Python package describes it: what regions are chosen from.
//
// Values are named: a node's results have names of their own, so that an operator with several results needs no nodes that pick one.
// Left out: what an operator computes. The description says whether it is a view, whether it writes to an argument, and its tags.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpwright::regions {

/// A tensor in the compiler's graph.
struct TensorType {
  std::string dtype;                 ///< "bfloat16"
  std::vector<std::int64_t> shape;   ///< empty dimensions where `is_static` is false
  std::vector<std::int64_t> strides; ///< elements
  std::string device;                ///< "cuda:0"
  bool is_static = true;             ///< false: an extent is known only at run time
};

/// One result of a node. A result nobody reads has an empty name, one that is no tensor has no dtype either.
struct Value {
  std::string name;
  TensorType type;
};

/// An operator with its arguments, or an input of the graph.
/// Arguments are JSON: {"n": NAME} reads a value; {"dtype": ...}, {"device": ...}, {"layout": ...}, {"memory_format": ...} and
/// {"float": "inf"} are constants; {"other": TEXT} is something that no region may hold; all else is itself.
struct Node {
  std::string op; ///< "aten.mm.default"; empty: an input of the graph
  nlohmann::json args = nlohmann::json::array(), kwargs = nlohmann::json::object();
  std::vector<Value> results;
  std::vector<std::string> tags; ///< of PyTorch: "pointwise", "nondeterministic_seeded"
  bool is_view = false;          ///< its result shares memory with an argument
  bool writes = false;           ///< it changes an argument
};

struct Graph {
  std::vector<Node> nodes; ///< each after those it reads
  std::vector<std::string> outputs;
};

/// Names of the values that arguments read, in their order, with repeats.
std::vector<std::string> read_values(const Node &node);

/// Device of the first tensor of the node that is read; empty: there is none.
std::string device_of(const Node &node);

/// @param document {"nodes": [{"op", "args", "kwargs", "results": [{"name", "dtype", "shape", "strides", "device"}], "tags", "view",
/// "writes"}], "outputs": [NAME]}; an extent that is null is unknown
/// Errors: a document of another form; a value that is read before it is made.
Result<Graph> graph_of(const nlohmann::json &document);

} // namespace warpwright::regions
