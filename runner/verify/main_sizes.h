// The sizes at which a native task is verified in several drawings: the task's own, or on a device that is too slow for them the
// largest that it can do where the reference is at home. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// What one run of the plans takes, in elements of a simple kernel; the task's flops count where it knows them.
std::int64_t cost_at(const model::Task &task, const symbolic::Sizes &sizes);

/// Whether the device does these sizes in reasonable time.
bool affordable(const Job &job, const symbolic::Sizes &sizes);

/// Whether they are also small enough to be tried where the task does not name them.
bool affordable_unnamed(const Job &job, const symbolic::Sizes &sizes);

struct MainSizes {
  symbolic::Sizes sizes;
  std::string note;               ///< why they are not the task's; empty where they are
  std::optional<Failure> failure; ///< the reference is at home at none that the device can do
};

/// Of torch tasks always the task's own.
DeviceResult<MainSizes> choose_main_sizes(Job &job, std::mt19937_64 &random);

} // namespace warpwright::runner
