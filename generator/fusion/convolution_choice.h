// Which convolutions of a graph a library should do channels-last and which a family of ours, by estimates: the first guesses of a search.
//
// A family's kernel takes bias and activation along and reads memory as it is. cuDNN's channels-last TF32 kernels multiply up to twice as fast, but
// what follows is a pass over memory of its own, and where one kind meets the other a tensor is converted. Estimates rank; the runner measures.
// Leaves out precision: where a reference runs FP32, no channels-last convolution is asked for (torch_search.h). Thread: pure functions.
#pragma once

#include "generator/fusion/partition.h"

namespace warpwright::generator {

/// About the microseconds of a float32 convolution by cuDNN on channels-last tensors, in TF32, on an H100 or H200.
double channels_last_microseconds(const GraphIndex &graph, const model::Node &conv,
                                  const DeviceFacts &facts);

/// A choice for every convolution, and what the whole is expected to take: kernels, and passes behind and between them.
struct ConvolutionChoice {
  AnchorChoices anchors;
  double microseconds = 0;
};

/// The estimate of given choices. Convolutions without one count as their quickest family.
double convolutions_microseconds(const GraphIndex &graph, const AnchorChoices &anchors,
                                 const DeviceFacts &facts);

/// From choices, one convolution at a time is given to whoever makes the whole quicker, until none does.
ConvolutionChoice improved(const GraphIndex &graph, AnchorChoices anchors,
                           const DeviceFacts &facts);

} // namespace warpwright::generator
