// Kinds of nodes as fusion sees them: computed in place for each element, or by loops of their own.
#pragma once

#include "support/model/graph.h"

#include <string_view>

namespace warpwright::ops {

/// A plan's own inline op: its operand in memory, laid out as {strides}.
inline constexpr std::string_view kLayoutOp = "layout";

/// A plan's own op with one result for each operand: the operand in memory, laid out as that result's strides. One
/// kernel converts several weights this way (the family "layouts").
inline constexpr std::string_view kLayoutsOp = "layouts";
/// Attribute of a "layouts" node: for each result the operand with a factor for each output channel, or -1.
inline constexpr char kFactors[] = "factors";

/// True for "input" and "parameter", which are memory of the task.
bool is_buffer_leaf(const model::Node &node);
/// True for "constant" and "iota", which take no memory.
bool is_generated(const model::Node &node);
/// True where one element comes from one element of each operand; operands broadcast.
bool is_pointwise(const model::Node &node);
/// True for nodes whose elements are the operands' in other places, or a fixed value: reshape, permute, expand, slice,
/// flip, cat, pad, roll, triu, tril, diagonal, diag_embed, and a plan's own layout.
bool is_view(const model::Node &node);
/// True for views that PyTorch makes without copying: permute, expand, slice; reshape where the strides allow.
bool is_strided_view(const model::Node &node);
/// True for gather, index_select and embedding, which read an element where an index says.
bool is_indexed(const model::Node &node);
/// True for matmul, attention and conv, whose many operations per element make reading it again cheap.
bool is_product(const model::Node &node);
/// True for a call of PyTorch's operator, or one of its results.
bool is_opaque(const model::Node &node);
/// True for generated, pointwise, view and indexed nodes, which ElementWriter writes in place.
bool is_inline(const model::Node &node);
/// Returns the cost of computing an element of an inline node again, without its operands, in floating-point
/// operations.
int recompute_cost(const model::Node &node);

} // namespace warpwright::ops
