// Rule that names what limits a plan, from its time and the task's least work.
//
// A share is the achieved rate over the device's measured rate. Above kBoundShare the larger share names the bound.
// Below it neither memory nor arithmetic explains the time, and the bound is latency: launches, dependences, occupancy,
// traffic served by caches. Profiler counters say more where available.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"

namespace warpwright::runner {

inline constexpr double kBoundShare = 0.6;

/// @param time of one side; its kernel_ns is used if present
/// @return nullopt: the task's work is unknown
std::optional<model::Evidence> evidence_of(const model::Task &task, const model::DeviceInfo &device,
                                           const model::Time &time);

} // namespace warpwright::runner
