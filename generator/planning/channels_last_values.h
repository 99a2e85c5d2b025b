// Which values of a plan are channels-last, where its library convolutions are: what channels_last.h writes.
//
// A value comes so where a channels-last convolution computes it, or an op that can be written so from such a value. It stays so where a reader
// profits: a channels-last convolution, a window, a reduction, a batch norm, or what stays so itself. Thread: pure functions.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// Whether the choices give a convolution to the library, channels-last.
bool is_channels_last(const model::Node &node, const AnchorChoices &choices);

/// Whether the depthwise family computes it, output channel for input channel: it keeps the order in which its input lies.
bool keeps_order(const ops::GraphIndex &graph, const model::Node &node,
                 const AnchorChoices &choices);

/// Whether a node is a pool, or keeps_order(): it keeps its shape, and writes with strides.
bool is_window(const ops::GraphIndex &graph, const model::Node &node, const AnchorChoices &choices);
/// Whether the choices give an anchor to the library.
bool by_library(const model::Node &node, const AnchorChoices &choices);

// Ops that can be written over (N, spatial..., C).
bool is_turnable_reduction(const model::Node &node);
bool is_turnable_batch_norm(const model::Node &node);

/// The taps of a filter of (outputs, channels, spatial...).
std::int64_t taps_of(const model::Shape &shape);

/// Names of nodes.
struct ChannelsLastValues {
  std::set<std::string> come, stay;
};
ChannelsLastValues channels_last_values(const ops::GraphIndex &graph, const AnchorChoices &choices);

} // namespace warpwright::planning
