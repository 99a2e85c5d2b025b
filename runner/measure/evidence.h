// What holds a plan back, by rule, from its time and the task's least work.
//
// A share is the achieved rate over the rate that the device was measured to reach. Above kBoundShare the
// larger share names the bound; below it neither memory nor arithmetic explains the time, and the bound is
// latency: launches, dependences, occupancy, traffic that caches serve. Counters, where a profiler is
// present, say more. Thread: pure functions.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"

namespace warpwright::runner {

inline constexpr double kBoundShare = 0.6;

/// @param time of one side; its kernel_ns counts where it is there
/// @return nullopt where the task's work is not known
std::optional<model::Evidence> evidence_of(const model::Task &task, const model::DeviceInfo &device,
                                           const model::Time &time);

} // namespace warpwright::runner
