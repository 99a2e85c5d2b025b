// Ops of the graph as calls of ATen operators: for what no family claims, and as the library's variant of what some do.
//
// Operands are handed over as strides on memory wherever views can say it, results have the strides that ATen gives them. A product takes a
// bias, and a relu behind it, along (addmm). Thread: pure functions.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// The step of a region whose anchor goes to the library; buffers have the names of values.
/// Errors: an op that has no operator, or arguments that an ATen step cannot hold, with the reason.
Result<model::AtenStep> lower_aten(const ops::GraphIndex &graph, const elements::Region &region);

/// Members that the library computes along with an anchor, in order: the bias of a matrix product and the relu behind it.
std::vector<std::string> library_epilogue(const ops::GraphIndex &graph, const model::Node &anchor);

} // namespace warpwright::planning
