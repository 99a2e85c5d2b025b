// A plan's values channels-last: the graph written anew so that what comes from a library's channels-last convolution stays in that order.
//
// cuDNN's tensor-core kernels read and write (N, spatial..., C); in the order that modules are written in, each call converts its operands and its
// result. So a whole chain or network is turned at once: pointwise nodes, concatenations, pads, slices, reductions, softmax and batch norms between
// such convolutions are written over the shape (N, spatial..., C), contiguous as all values are, and fuse as ever. Convolutions and pools
// keep their shapes, with strides (see value_strides()). Inputs and weights are laid out by one kernel each, and not at all where both orders are
// the same memory. Values that only results, or families which read rows of (N, C, spatial...), are made of stay as they were, so that a
// transposing kernel writes them once.
// Leaves out group norms and upsampling, which read with strides, and which convolutions are worth it (torch_search.h). Thread: pure functions.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// An attribute of windows that write channels-last.
inline constexpr std::string_view kChannelsLast = "channels_last";
/// An attribute of views that only tell the two orders apart, and of the mean that a batch norm begins with.
inline constexpr std::string_view kTurned = "turned";

/// The graph turned, as the file says; as it was where no convolution is channels-last. Anchors keep their names.
/// @param graph whose results are nodes that regions can write (with_result_nodes())
model::Graph with_channels_last(const model::Graph &graph, const AnchorChoices &choices);

} // namespace warpwright::planning
