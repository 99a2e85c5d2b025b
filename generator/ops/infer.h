// Inference of results' types by kind of operator; the table says which operator uses which function.
#pragma once

#include "generator/ops/op.h"

#include <optional>

namespace warpwright::ops {

/// Returns the types of a node's results, derived from its operands and attributes, or else the stated types, checked.
/// Strides are empty. Errors: the op is unknown, or operands or attributes do not fit; without the node's name.
Result<Types> infer_types(const model::Node &node, const Types &operands);

namespace infer {

// Leaves, and operators that state their type.
Result<Types> stated_leaf(const model::Node &node, const Types &operands);
Result<Types> constant(const model::Node &node, const Types &operands);
Result<Types> iota(const model::Node &node, const Types &operands);
Result<Types> aten(const model::Node &node, const Types &operands);
Result<Types> item(const model::Node &node, const Types &operands);

// Pointwise.
Result<Types> unary(const model::Node &node, const Types &operands);
Result<Types> floating_unary(const model::Node &node, const Types &operands);
/// Errors: operands that are no integers.
Result<Types> integral(const model::Node &node, const Types &operands);
Result<Types> logical_not(const model::Node &node, const Types &operands);
Result<Types> cast(const model::Node &node, const Types &operands);
Result<Types> arithmetic(const model::Node &node, const Types &operands);
Result<Types> comparison(const model::Node &node, const Types &operands);
Result<Types> where(const model::Node &node, const Types &operands);

// Views, and reads at given indices.
Result<Types> reshape(const model::Node &node, const Types &operands);
Result<Types> permute(const model::Node &node, const Types &operands);
Result<Types> expand(const model::Node &node, const Types &operands);
Result<Types> slice(const model::Node &node, const Types &operands);
Result<Types> flip(const model::Node &node, const Types &operands);
Result<Types> roll(const model::Node &node, const Types &operands);
Result<Types> cat(const model::Node &node, const Types &operands);
Result<Types> pad(const model::Node &node, const Types &operands);
Result<Types> gather(const model::Node &node, const Types &operands);
Result<Types> index_select(const model::Node &node, const Types &operands);
Result<Types> embedding(const model::Node &node, const Types &operands);
Result<Types> triangle(const model::Node &node, const Types &operands);
Result<Types> diagonal(const model::Node &node, const Types &operands);
Result<Types> diag_embed(const model::Node &node, const Types &operands);
Result<Types> scatter(const model::Node &node, const Types &operands);

// Rows.
Result<Types> reduction(const model::Node &node, const Types &operands);
Result<Types> floating_reduction(const model::Node &node, const Types &operands);
Result<Types> truth_reduction(const model::Node &node, const Types &operands);
Result<Types> arg_reduction(const model::Node &node, const Types &operands);
Result<Types> softmax(const model::Node &node, const Types &operands);
/// Errors: a dimension that the operand has not, or fewer elements there than `k`.
Result<Types> topk(const model::Node &node, const Types &operands);
Result<Types> scan(const model::Node &node, const Types &operands);
Result<Types> layer_norm(const model::Node &node, const Types &operands);
Result<Types> group_norm(const model::Node &node, const Types &operands);
Result<Types> batch_norm(const model::Node &node, const Types &operands);

// Products and windows.
Result<Types> matmul(const model::Node &node, const Types &operands);
Result<Types> attention(const model::Node &node, const Types &operands);
Result<Types> conv(const model::Node &node, const Types &operands);
Result<Types> max_pool(const model::Node &node, const Types &operands);
Result<Types> avg_pool(const model::Node &node, const Types &operands);
Result<Types> adaptive_pool(const model::Node &node, const Types &operands);
Result<Types> upsample_nearest(const model::Node &node, const Types &operands);

// Shared helpers.

/// "float32[2, 3]".
std::string text_of(const model::TensorType &type);
std::string text_of(const model::Shape &shape);
/// Returns nullopt where the shapes do not broadcast.
std::optional<model::Shape> broadcast(const model::Shape &a, const model::Shape &b);
/// Returns the dtype that PyTorch's type promotion gives two tensors: a tensor without dimensions does not widen a
/// tensor with dimensions of the same category (boolean, integer, floating).
model::Dtype promote(const model::TensorType &a, const model::TensorType &b);
/// Promotes the dtypes of two tensors with dimensions, or of two without.
model::Dtype promote(model::Dtype a, model::Dtype b);
/// Returns 0 for bool, 1 for integers, 2 for floating point.
int category(model::Dtype dtype);
bool is_integer(model::Dtype dtype);
/// Returns the types of a node with one result.
inline Types single_result(model::Dtype dtype, model::Shape shape) { return {{dtype, std::move(shape), {}}}; }
/// Fails unless 0 <= dim < rank.
Result<void> check_dim(std::int64_t dim, std::size_t rank);

} // namespace infer
} // namespace warpwright::ops
