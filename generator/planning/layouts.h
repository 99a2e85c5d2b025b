// Graphs rewritten for lowering, not for algebra: biases apart from convolutions, which fusion folds into whoever reads them; and the strides of
// values that are not contiguous. channels_last.h turns whole graphs.
// Thread: pure functions.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// The graph with the bias of each convolution as an addition of its own, which fusion folds into what follows; the library would add it
/// by a kernel of its own.
model::Graph with_separate_bias(const model::Graph &graph);

/// Strides of values that are not contiguous in memory: layout nodes, channels-last convolutions and pools, results of recorded operators.
std::map<std::string, model::Shape> value_strides(const ops::GraphIndex &graph,
                                                  const AnchorChoices &choices);

/// Strides of (N, C, spatial...) with C fastest.
model::Shape channels_last_strides(const model::Shape &shape);

} // namespace warpwright::planning
