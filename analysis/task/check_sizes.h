// Further bindings of a task's sizes: tails, small, odd and rectangular ones that the kernel itself
// allows.
//
// What a kernel allows is judged by comparison with the binding that the program uses: a binding is
// legal when no buffer is overrun that was not, and every buffer that was covered still is. So a
// kernel without a guard keeps multiples of its block, and one that needs N % TILE == 0 keeps
// those; so does one whose accesses are not seen, which may read vectors. Thread: the unit's.
#pragma once

#include "analysis/task/size_probe.h"

namespace warpwright::analysis {

/// @param extents elements of each buffer
std::vector<symbolic::Sizes>
choose_check_sizes(const SizeProbe &probe, const LaunchDraft &draft, const symbolic::Sizes &sizes,
                   const std::map<std::string, symbolic::Expression> &extents);

} // namespace warpwright::analysis
