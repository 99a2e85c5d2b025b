// First guesses of a search, by estimates: convolutions for a library, channels-last, and for our families.
//
// A family's kernel also computes bias and activation. Most read memory as it is; one works channels-last, as cuDNN's
// TF32 kernels do. Those multiply fast, but the nodes behind them need another pass over memory. A tensor is converted
// where one order meets the other. Estimates rank; the runner measures. Leaves out precision: where a reference runs
// FP32, no channels-last convolution is asked for (torch_search.h).
#pragma once

#include "generator/planning/partition.h"

#include <optional>

namespace warpwright::planning {

/// The family with the lowest estimate for a node among those that `fits` accepts, and microseconds; null and a large
/// number where none has an estimate.
struct Quickest {
  const elements::Family *family = nullptr;
  double microseconds = 1e12;
};
Quickest quickest_family(const ops::GraphIndex &graph, const model::Node &node,
                         const elements::DeviceFacts &facts,
                         bool (*fits)(const elements::Family &) = [](const elements::Family &) { return true; });

/// Returns the choices that estimates prefer: starting from ours and from the library's, one convolution at a time goes
/// to whichever of a family, a channels-last family and the library makes the whole quicker. Returns nullopt where that is not expected to be clearly quicker than ours.
std::optional<AnchorChoices> mixture(const ops::GraphIndex &graph, const AnchorChoices &ours,
                                     const AnchorChoices &library,
                                     const elements::DeviceFacts &facts);

} // namespace warpwright::planning
