// Selection of the values of a plan that are channels-last around its library convolutions; channels_last.h writes
// them. A value can be produced so by a channels-last convolution, or by an op that can be written so from such a
// value. It is kept so where a reader profits: a channels-last convolution, a window, a reduction, a batch norm, or
// another kept value.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// Returns true where the choices give a convolution to the library, channels-last, or to a family that works so.
bool is_channels_last(const model::Node &node, const AnchorChoices &choices);

/// Returns true where the depthwise family computes each output channel from its input channel, in its input's order.
bool keeps_order(const ops::GraphIndex &graph, const model::Node &node,
                 const AnchorChoices &choices);

/// Returns true for a pool, or where keeps_order(): the node keeps its shape, and writes with strides.
bool is_window(const ops::GraphIndex &graph, const model::Node &node, const AnchorChoices &choices);
/// Returns true where the choices give an anchor to the library.
bool by_library(const model::Node &node, const AnchorChoices &choices);

// Ops that can be written over (N, spatial..., C).
bool is_turnable_reduction(const model::Node &node);
bool is_turnable_norm(const model::Node &node);

/// Returns the dimensions of (N, C, spatial...) in the order (N, spatial..., C).
model::Shape order_of(std::size_t rank);

/// Returns the taps of a filter of (outputs, channels, spatial...).
std::int64_t taps_of(const model::Shape &shape);

/// Names of nodes that can be produced channels-last, and of those that are kept so.
struct ChannelsLastValues {
  std::set<std::string> come, stay;
};
ChannelsLastValues channels_last_values(const ops::GraphIndex &graph, const AnchorChoices &choices);

} // namespace warpwright::planning
