// Graphs rewritten for lowering, not for algebra: channels-last operands of the library's convolutions, and biases apart from
// convolutions. Fusion folds what is added into whoever computes or reads it.
// Thread: pure functions.
#pragma once

#include "generator/fusion/partition.h"

namespace warpwright::generator {

/// A plan's own op, inline: its operand, in memory as {strides} say.
inline constexpr std::string_view kLayoutOp = "layout";

/// The graph with a layout node for each operand of a convolution that `choices` want channels-last and that does not come so by itself.
model::Graph with_layouts(const model::Graph &graph, const AnchorChoices &choices);

/// The graph with the bias of each convolution as an addition of its own, which fusion folds into what follows; the library would add it
/// by a kernel of its own.
model::Graph with_separate_bias(const model::Graph &graph);

/// Strides of values that are not contiguous in memory: layout nodes, channels-last convolutions, results of recorded operators.
std::map<std::string, model::Shape> value_strides(const GraphIndex &graph,
                                                  const AnchorChoices &choices);

/// Strides of (N, C, spatial...) with C fastest.
model::Shape channels_last_strides(const model::Shape &shape);

} // namespace warpwright::generator
