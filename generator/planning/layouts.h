// Graphs prepared for lowering: biases separated from convolutions, and the strides of values that are not contiguous.
// channels_last.h converts whole graphs.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// Returns the graph with the bias of each convolution as an addition of its own, which fusion folds into later nodes;
/// the library would add it by a kernel of its own.
model::Graph with_separate_bias(const model::Graph &graph);

/// Returns the strides of layout nodes, channels-last convolutions and pools, and results of recorded operators.
std::map<std::string, model::Shape> value_strides(const ops::GraphIndex &graph,
                                                  const AnchorChoices &choices);

/// Returns strides of (N, C, spatial...) with C fastest.
model::Shape channels_last_strides(const model::Shape &shape);

} // namespace warpwright::planning
