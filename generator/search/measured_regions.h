// Regions of measured plans: what each anchor took, and the choices of several plans together.
//
// A search measures whole plans. The device time of their steps (Verdict::step_ns) says which anchors were faster by a
// family and which by the library, so that one more plan can have the best of each. Leaves out: choices that change what
// lies between anchors, which are layouts and rewrites.
#pragma once

#include "generator/search/torch_search.h"

#include <map>
#include <optional>

namespace warpwright::search {

/// Seconds of each region of a measured plan by its key (planning::region_key); empty if steps were not timed.
std::map<std::string, double> region_seconds(const TorchVariant &variant);

/// Returns the state of `best` in which each anchor has the choice with which it was fastest in any right variant of the
/// same graph and the same layouts; nullopt if that promises no gain.
std::optional<GraphState> fastest_choices(const TorchVariant &best,
                                          const std::vector<TorchVariant> &tried);

/// Returns the state of `best` in which alike regions have the configuration with which they were fastest in any right
/// variant with the same regions; nullopt if that promises no gain.
std::optional<GraphState> fastest_configurations(const TorchVariant &best,
                                                 const std::vector<TorchVariant> &tried);

} // namespace warpwright::search
