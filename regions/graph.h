// The compiler's graph of ATen operators, as the Python package describes it. Regions are parts of it.
//
// Each result of a node has a name, so an operator with several results needs no nodes that select one of them. The
// graph does not define what an operator computes, only its tags, whether it is a view and whether it writes.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::regions {

/// A tensor in the compiler's graph.
struct TensorType {
  std::string dtype;                 ///< "bfloat16"
  std::vector<std::int64_t> shape;   ///< at the example's sizes where extents depend on symbols
  std::vector<std::int64_t> strides; ///< in elements, likewise
  std::vector<nlohmann::json> extents; ///< the shape as the document has it: numbers and sizes
  std::string device;                ///< "cuda:0"
  bool is_known = true;              ///< false: an extent is known only at run time
};

/// One result of a node. The name is empty if nothing reads the result; the dtype too if it is not a tensor.
struct Value {
  std::string name;
  TensorType type;
};

/// An operator with its arguments, or an input of the graph.
/// Arguments are JSON: {"n": NAME} reads a value; {"size": TERMS, "hint": N} is an integer that depends on symbols; {"dtype": X}, {"device": X}, {"layout": X}, {"memory_format": X} and
/// {"float": "inf"} are constants; {"other": TEXT} is not allowed in regions; other JSON stands for its own value.
struct Node {
  std::string op; ///< "aten.mm.default"; empty: an input of the graph
  nlohmann::json args = nlohmann::json::array(), kwargs = nlohmann::json::object();
  std::vector<Value> results;
  std::vector<std::string> tags; ///< PyTorch's tags: "pointwise", "nondeterministic_seeded"
  bool is_view = false;          ///< its result shares memory with an argument
  bool writes = false;           ///< it changes an argument
};

/// A size that differs from call to call: a batch, a length.
struct Symbol {
  std::int64_t hint = 0; ///< its value in the example, at which plans are searched
  std::int64_t low = 2;
  std::optional<std::int64_t> high; ///< nullopt: unlimited
};

struct Graph {
  std::map<std::string, Symbol> symbols;
  std::vector<Node> nodes; ///< each node after the nodes that it reads
  std::vector<std::string> outputs;
};

/// Names of the values that a node's arguments read, in their order, with repeats.
std::vector<std::string> read_values(const Node &node);

/// Device of the node's first result that is a named tensor; empty when there is none.
std::string device_of(const Node &node);

/// @param document {"hint", "low", "high"}; high is null where there is no limit
/// @throw json::exception for another form
Symbol symbol_of(const nlohmann::json &document);

/// @param document {"symbols": {NAME: {"hint", "low", "high"}}, "nodes": [{"op", "args", "kwargs", "results": [{"name", "dtype", "shape", "strides", "device"}],
/// "tags", "view", "writes"}], "outputs": [NAME]}; an extent is a number, {"size", "hint"}, or null where it is unknown
/// Errors: a document of another form; a value that is read before it is computed.
Result<Graph> graph_of(const nlohmann::json &document);

} // namespace warpwright::regions
