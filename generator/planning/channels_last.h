// Channels-last form of a plan's graph: values from a library's channels-last convolution stay in that order.
//
// cuDNN's tensor-core kernels read and write (N, spatial..., C). On values in (N, C, spatial...) order, each call
// converts its operands and its result, so a whole chain or network is converted at once: pointwise nodes,
// concatenations, pads, slices, reductions, softmax, batch and group norms between such convolutions are written over the
// shape (N, spatial..., C), contiguous as all values are, and fuse as usual. Convolutions and pools keep their shapes,
// with strides (see value_strides()). Kernels of their own lay out inputs and weights, unless both orders are the same
// memory. Values that only feed results, or families which read rows of (N, C, spatial...), stay as they were, so that
// a transposing kernel writes them once.
// Leaves out the choice of convolutions (torch_search.h).
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// Attribute of windows that write channels-last.
inline constexpr std::string_view kChannelsLast = "channels_last";
/// Attribute of views that only translate between the two orders, and of the mean with which a batch norm begins.
inline constexpr std::string_view kTurned = "turned";

/// Returns the graph in channels-last form; unchanged where no convolution is channels-last. Anchors keep their names.
/// @param graph whose results are nodes that regions can write (with_result_nodes())
model::Graph with_channels_last(const model::Graph &graph, const AnchorChoices &choices);

} // namespace warpwright::planning
