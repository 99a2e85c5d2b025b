// The launch of a plan as plainly as a program would do it, for tools that watch a process.
//
// No graph, no guards, no poison, no kernel but the plan's own, and every buffer an allocation of its exact
// size: so a tool sees the first byte that is out of bounds, and outputs and temporaries that nobody wrote
// are uninitialised to it, too. Inputs are drawn as the verifier draws them, on the host. Compiled with line
// information. It checks no result. Thread: the calling one.
#pragma once

#include "support/error.h"
#include "support/model/task.h"

#include <cstdint>
#include <functional>

namespace warpwright::runner::deep {

struct PlainLaunch {
  model::Task task;
  model::Plan plan;
  int ordinal = 0;          ///< of the GPU: N of "cuda:N"
  std::vector<symbolic::Sizes> sizes; ///< one run of the plan each, in this order
  std::uint64_t seed = 1;
  std::string code_folder; ///< where launches of the same plan leave compiled code; empty: nowhere
  int repeat = 1; ///< runs at each of the sizes, each on inputs drawn afresh from the same seed
};

/// @param say told before each run "at SIZES" and "buffer NAME ADDRESS BYTES" of each buffer
/// Errors: no GPU, no NVRTC, sources that do not compile, and what the device reports of the launches.
Result<void> launch_plainly(const PlainLaunch &launch,
                            const std::function<void(const std::string &)> &say);

} // namespace warpwright::runner::deep
