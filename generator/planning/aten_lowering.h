// Lowering of ops to calls of ATen operators: for ops that no family claims, and as the library's variant of others.
// Operands are passed as strides on memory wherever views can express them; results have the strides that ATen gives
// them. A matrix product also computes a bias and the relu behind it (addmm), a channels-last convolution its bias, the
// addition of a tensor and the relu behind it.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// Returns the step of a region whose anchor goes to the library; buffers have the names of values.
/// Errors: an op that has no operator, or arguments that an ATen step cannot hold, with the reason.
Result<model::AtenStep> lower_aten(const ops::GraphIndex &graph, const elements::Region &region);

/// Returns the members that the library computes with an anchor, in order: a product's bias and relu;
/// the view, addition and relu behind a channels-last convolution that has a bias.
std::vector<std::string> library_epilogue(const ops::GraphIndex &graph, const model::Node &anchor);

} // namespace warpwright::planning
