// Helpers shared by several rules.
#pragma once

#include "generator/ops/attributes.h"
#include "generator/rewrites/graph_facts.h"
#include "generator/rewrites/replacement_builder.h"

namespace warpwright::rewrites {

/// An added mask below this hides a score as -inf does: the softmax of float32 scores gives it no weight.
inline constexpr double kHides = -1e30;

/// Returns a replacement by an existing value, without new nodes.
inline Replacement existing(const std::string &value) { return {{}, value}; }

struct WithConstant {
  std::string other;
  double number;
  bool constant_first;
};
/// Returns the operands of a binary node where exactly one operand is a known number everywhere.
std::optional<WithConstant> with_constant(const GraphFacts &facts, const model::Node &node);

/// Returns true where the two types have one shape and dtype; layouts may differ.
bool same_type(const model::TensorType &a, const model::TensorType &b);

/// Returns the product of the shape's extents at dims.
std::int64_t extent_of(const model::Shape &shape, const model::Shape &dims);
bool contains(const model::Shape &dims, std::int64_t dim);

/// Returns the shape as it broadcasts to `rank` dimensions: with ones before it.
model::Shape aligned(const model::Shape &shape, std::size_t rank);

/// Returns the elements of the dimensions from `begin` to before `end`.
std::int64_t elements_of(const model::Shape &shape, std::size_t begin, std::size_t end);

/// Returns the dimension of `other`, a shape of as many elements, whose positions are those of dimension `dim` of
/// `shape`; nullopt where a reshape splits or merges it.
std::optional<std::int64_t> same_dim(const model::Shape &shape, std::int64_t dim,
                                     const model::Shape &other);

/// Returns the value behind reshapes and permutes.
const model::Node &behind_views(const GraphFacts &facts, const std::string &value);

/// For a reshape that only inserts or drops dimensions of extent 1, returns each dimension's place in `to`, or -1.
std::optional<model::Shape> place_of_dims(const model::Shape &from, const model::Shape &to);

/// Returns true for reductions of which one behind another is one over the dimensions of both.
bool is_mergeable_reduction(const std::string &op);

/// Returns the dimensions over which rows of a value's shape are reduced before pointwise ops compute the value: those
/// of the nearest such reduction. nullopt: there is none.
std::optional<model::Shape> rows_before(const GraphFacts &facts, const std::string &value);

/// Appends the same op with other operands and another shape.
std::string with_inputs(ReplacementBuilder &builder, const model::Node &node,
                  std::vector<std::string> inputs, model::Shape shape);

} // namespace warpwright::rewrites
