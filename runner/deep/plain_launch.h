// Plain launches of a plan, for tools that watch a process.
//
// A launch has no graph, guards or poison, runs only the plan's kernels, and gives every buffer an
// allocation of its exact size. So a tool detects the first byte out of bounds, and outputs and
// temporaries are uninitialized until a kernel writes them. Inputs are drawn on the host, with the
// verifier's method. The code is compiled with line information. Results are not checked. Thread:
// the calling one.
#pragma once

#include "support/error.h"
#include "support/model/task.h"

#include <cstdint>
#include <functional>

namespace warpwright::runner::deep {

struct PlainLaunch {
  model::Task task;
  model::Plan plan;
  int ordinal = 0;          ///< of the GPU: the N in "cuda:N"
  std::vector<symbolic::Sizes> sizes; ///< the plan runs once for each, in this order
  std::uint64_t seed = 1;
  std::string code_folder; ///< where launches of the same plan share compiled code; empty: nowhere
  /// Number of runs for each of the sizes, each on inputs drawn again from the same seed.
  int repeat = 1;
};

/// @param say called before each run with "at SIZES" and, for each buffer, "buffer NAME ADDRESS
/// BYTES"
/// Errors: no GPU, no NVRTC, sources that do not compile, errors of the launches.
Result<void> launch_plainly(const PlainLaunch &launch,
                            const std::function<void(const std::string &)> &say);

} // namespace warpwright::runner::deep
