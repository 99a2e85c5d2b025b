// Additional bindings of a task's sizes that the kernel supports: tails, small, odd and rectangular
// ones.
//
// A binding is compared with the program's own binding. It is legal if it overruns no further
// buffer and still covers every buffer that was covered. A kernel without a guard thus keeps
// multiples of its block, and a kernel that needs N % TILE == 0 keeps multiples of TILE. A kernel
// with accesses that cannot be analyzed keeps multiples too, because it may read vectors. Thread:
// the unit's thread.
#pragma once

#include "analysis/task/size_probe.h"

namespace warpwright::analysis {

/// @param extents number of elements of each buffer
std::vector<symbolic::Sizes>
choose_check_sizes(const SizeProbe &probe, const LaunchDraft &draft, const symbolic::Sizes &sizes,
                   const std::map<std::string, symbolic::Expression> &extents);

/// Tolerance of results, from the rounding error of the longest sum: 4 times the expected error.
model::Tolerance tolerance_of(const model::Task &task, const KernelRanges &ranges);

} // namespace warpwright::analysis
