// Which convolutions of a graph a library should do channels-last and which a family of ours, by estimates: the first guesses of a search.
//
// A family's kernel takes bias and activation along and reads memory as it is. cuDNN's channels-last TF32 kernels multiply up to twice as fast, but
// what follows is a pass over memory of its own, and where one kind meets the other a tensor is converted. Estimates rank; the runner measures.
// Leaves out precision: where a reference runs FP32, no channels-last convolution is asked for (torch_search.h). Thread: pure functions.
#pragma once

#include "generator/planning/partition.h"

#include <optional>

namespace warpwright::planning {

/// About the microseconds of a float32 convolution by cuDNN on channels-last tensors, in TF32, on an H100 or H200.
double channels_last_microseconds(const ops::GraphIndex &graph, const model::Node &conv,
                                  const elements::DeviceFacts &facts);

/// About the microseconds of a graph's convolutions under these choices, with the passes behind and between them. Convolutions without a choice count as
/// their quickest family.
double convolutions_microseconds(const ops::GraphIndex &graph, const AnchorChoices &anchors,
                                 const elements::DeviceFacts &facts);

/// The choices that estimates prefer: from ours and from the library's, one convolution at a time is given to whoever makes the whole quicker. Nullopt
/// where that is not expected to be clearly quicker than ours.
std::optional<AnchorChoices> mixture(const ops::GraphIndex &graph, const AnchorChoices &ours,
                                     const AnchorChoices &library,
                                     const elements::DeviceFacts &facts);

} // namespace warpwright::planning
