// Calls of PyTorch's own (ATen) operators, for Op::library.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
#include "support/model/plan.h"

#include <optional>

namespace warpwright::ops {

/// A node and the memory of its operands.
struct LibraryCall {
  const model::Node &node;
  std::vector<model::TensorView> inputs;
};

/// @return a step to whose results the caller adds the node
/// Errors: the reason why no ATen operator computes the node.
using CallLibrary = Result<model::AtenStep> (*)(const LibraryCall &call);

namespace library {

Result<model::AtenStep> convolution(const LibraryCall &);
/// Calls cuDNN's convolution with bias, a residual of the result's shape where there is one, and relu.
model::AtenStep convolution_with_relu(const LibraryCall &,
                                      const std::optional<model::TensorView> &residual);
Result<model::AtenStep> attention(const LibraryCall &);
Result<model::AtenStep> scatter_add(const LibraryCall &);
Result<model::AtenStep> scatter_extreme(const LibraryCall &);
Result<model::AtenStep> sum(const LibraryCall &);
Result<model::AtenStep> mean(const LibraryCall &);
Result<model::AtenStep> any(const LibraryCall &);
Result<model::AtenStep> all(const LibraryCall &);
/// Calls the ATen operator that has the node's name.
Result<model::AtenStep> reduction(const LibraryCall &);
Result<model::AtenStep> prod(const LibraryCall &);
Result<model::AtenStep> var(const LibraryCall &);
Result<model::AtenStep> norm(const LibraryCall &);
Result<model::AtenStep> arg_reduction(const LibraryCall &);
Result<model::AtenStep> softmax(const LibraryCall &);
Result<model::AtenStep> layer_norm(const LibraryCall &);
Result<model::AtenStep> group_norm(const LibraryCall &);
Result<model::AtenStep> batch_norm(const LibraryCall &);
Result<model::AtenStep> scan(const LibraryCall &);
/// Presets that the operator's first result, the elements, is not used.
Result<model::AtenStep> topk(const LibraryCall &);
Result<model::AtenStep> max_pool(const LibraryCall &);
Result<model::AtenStep> avg_pool(const LibraryCall &);
/// Calls an operator that resizes to a given size: adaptive pools and upsampling.
Result<model::AtenStep> resize(const LibraryCall &);

} // namespace library
} // namespace warpwright::ops
