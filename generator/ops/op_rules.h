// What each op of docs/op-graph.md takes: operands, attributes, and how its results' types follow from them.
//
// One row an op, in op_rules.cpp; the functions that infer are in infer_*.cpp, by kind. Types that an op cannot derive (reshape,
// expand, cast, leaves, aten) are stated by the node, and checked. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <string_view>

namespace warpwright::generator {

/// Types of results; strides are left empty, since they say only how PyTorch lays values out.
using Types = std::vector<model::TensorType>;
/// @param operands types of the node's inputs, in order
/// Errors: why the node is not well formed, without its name.
using InferTypes = Result<Types> (*)(const model::Node &node, const Types &operands);

enum class AttributeKind {
  Flag,    ///< bool
  Integer, ///< int64
  Number,  ///< double, or an integer
  Text,
  List ///< integers
};

struct AttributeRule {
  std::string_view name;
  AttributeKind kind = AttributeKind::Integer;
  bool required = true;
};

struct OpRule {
  std::size_t least_operands = 0, most_operands = 0;
  std::vector<AttributeRule> attributes;
  InferTypes infer = nullptr;
};

/// nullptr where there is no such op.
const OpRule *find_op_rule(std::string_view op);
/// All ops, sorted.
std::vector<std::string_view> op_names();

} // namespace warpwright::generator
