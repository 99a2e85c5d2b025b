// Cost of nodes before fusion: floating-point operations, and bytes of operands and results.
#pragma once

#include "generator/ops/graph_index.h"

namespace warpwright::ops {

struct Cost {
  double flops = 0, bytes = 0;
};

/// Returns the size of a tensor of this type.
double bytes_of(const model::TensorType &type);

double matmul_flops(const model::Shape &a, const model::Shape &b);
/// Returns the multiplications and additions of a node `conv`, padding included.
double convolution_flops(const model::Shape &x, const model::Shape &weight,
                         const model::Shape &result, bool transposed);

/// Floating-point operations of a node, for the table of operators.
namespace flops {

double matmul(const GraphIndex &index, const model::Node &node);
double convolution(const GraphIndex &index, const model::Node &node);
double attention(const GraphIndex &index, const model::Node &node);
/// The window is the attribute `kernel`.
double pool(const GraphIndex &index, const model::Node &node);

} // namespace flops

/// Returns the cost of a node: zero for views, bytes alone for `aten`.
Cost cost_of(const GraphIndex &index, const model::Node &node);
Cost cost_of(const model::Graph &graph);

} // namespace warpwright::ops
