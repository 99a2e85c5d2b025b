// What several rules ask of a node. Thread: pure functions.
#pragma once

#include "generator/ops/attributes.h"
#include "generator/rewrites/graph_facts.h"
#include "generator/rewrites/replacement_builder.h"

namespace warpwright::rewrites {

/// A value as it is, with no new node.
inline Replacement existing(const std::string &value) { return {{}, value}; }

struct WithConstant {
  std::string other;
  double number;
  bool constant_first;
};
/// A binary node of which one operand is one known number everywhere and the other is not.
std::optional<WithConstant> with_constant(const GraphFacts &facts, const model::Node &node);

/// Whether the two types have one shape and dtype; layouts may differ.
bool same_type(const model::TensorType &a, const model::TensorType &b);

/// Extents of the shape at dims, multiplied.
std::int64_t extent_of(const model::Shape &shape, const model::Shape &dims);
bool contains(const model::Shape &dims, std::int64_t dim);

/// How the value broadcasts to `shape`: its own shape with ones before it.
model::Shape aligned(const model::Shape &shape, std::size_t rank);

/// A reshape that only inserts or drops dimensions of extent 1: for each dimension of `from`, its place in `to`, -1 for a dropped one.
std::optional<model::Shape> place_of_dims(const model::Shape &from, const model::Shape &to);

/// The same op with other operands and type.
std::string with_inputs(ReplacementBuilder &builder, const model::Node &node,
                  std::vector<std::string> inputs, model::Shape shape);

} // namespace warpwright::rewrites
