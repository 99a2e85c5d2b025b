// First guesses of a search, by estimates: convolutions for a library, channels-last, and for our families.
//
// A family's kernel also computes bias and activation and reads memory as it is. cuDNN's channels-last TF32 kernels
// multiply up to twice as fast, but the nodes behind them need another pass over memory, and a tensor is converted
// where one kind meets the other. Estimates rank; the runner measures. Leaves out precision: where a reference runs
// FP32, no channels-last convolution is asked for (torch_search.h).
#pragma once

#include "generator/planning/partition.h"

#include <optional>

namespace warpwright::planning {

/// Returns about the microseconds of a float32 convolution by cuDNN, channels-last in TF32, on an H100 or H200.
double channels_last_microseconds(const ops::GraphIndex &graph, const model::Node &conv,
                                  const elements::DeviceFacts &facts);

/// Returns about the microseconds of a graph's convolutions under these choices, with the passes behind and between
/// them. Convolutions without a choice count as their quickest family.
double convolutions_microseconds(const ops::GraphIndex &graph, const AnchorChoices &anchors,
                                 const elements::DeviceFacts &facts);

/// Returns the choices that estimates prefer: starting from ours and from the library's, one convolution at a time goes
/// to whichever makes the whole quicker. Returns nullopt where that is not expected to be clearly quicker than ours.
std::optional<AnchorChoices> mixture(const ops::GraphIndex &graph, const AnchorChoices &ours,
                                     const AnchorChoices &library,
                                     const elements::DeviceFacts &facts);

} // namespace warpwright::planning
