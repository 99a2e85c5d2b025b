// What nodes cost before anything is fused: floating-point operations, and bytes that operands and results take. Thread: pure functions.
#pragma once

#include "generator/ops/graph_index.h"

namespace warpwright::generator {

struct Cost {
  double flops = 0, bytes = 0;
};

/// Of a tensor of this type.
double bytes_of(const model::TensorType &type);

double matmul_flops(const model::Shape &a, const model::Shape &b);
/// Of a node `conv`: multiplications and additions, padding included.
double convolution_flops(const model::Shape &x, const model::Shape &weight,
                         const model::Shape &result, bool transposed);

/// Views cost nothing; `aten` nodes their bytes only.
Cost cost_of(const GraphIndex &index, const model::Node &node);
Cost cost_of(const model::Graph &graph);

} // namespace warpwright::generator
