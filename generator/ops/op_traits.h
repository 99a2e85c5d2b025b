// What kind of op a node is, as fusion sees it: computed in place at an element, or by loops of its own.
// Thread: pure functions.
#pragma once

#include "support/model/graph.h"

#include <string_view>

namespace warpwright::ops {

/// A plan's own op, inline: its operand, in memory as {strides} say.
inline constexpr std::string_view kLayoutOp = "layout";

/// A plan's own op with a result for each operand, the operand in memory as that result's strides say: weights that are turned at once
/// (the family "layouts").
inline constexpr std::string_view kLayoutsOp = "layouts";

/// "input" and "parameter": memory of the task.
bool is_buffer_leaf(const model::Node &node);
/// "constant" and "iota": no memory at all.
bool is_generated(const model::Node &node);
/// One element from one element of each operand, which broadcast.
bool is_pointwise(const model::Node &node);
/// Elements of the operands in other places, or a fixed value: reshape, permute, expand, slice, flip, cat, pad, roll, triu, tril, diagonal,
/// diag_embed, and a plan's own layout.
bool is_view(const model::Node &node);
/// Views that PyTorch makes without copying, whatever the strides: permute, expand, slice; reshape where the strides allow.
bool is_strided_view(const model::Node &node);
/// gather, index_select, embedding: an element from where an index says.
bool is_indexed(const model::Node &node);
/// matmul, attention, conv: so many operations for an element that reading it again is cheap.
bool is_product(const model::Node &node);
/// A call of PyTorch's operator, or one of its results.
bool is_opaque(const model::Node &node);
/// Any of these but buffer leaves: ElementWriter writes it in place.
bool is_inline(const model::Node &node);
/// Cost of computing an element again, in units of a floating-point operation; only of inline nodes, without their operands.
int recompute_cost(const model::Node &node);

} // namespace warpwright::ops
