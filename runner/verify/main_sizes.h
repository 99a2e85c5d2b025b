// Main sizes, at which most drawings of a native task are verified: the task's own, or on a device too slow for them
// the largest affordable ones where the reference works. Thread: the job thread.
#pragma once

#include "runner/verify/job.h"

#include <random>

namespace warpwright::runner {

/// Cost of one run of the plans, in elements of a simple kernel; includes the task's flops if known.
std::int64_t cost_at(const model::Task &task, const symbolic::Sizes &sizes);

/// True if the device can run these sizes in reasonable time.
bool affordable(const Job &job, const symbolic::Sizes &sizes);

/// True if the sizes are also small enough to be tried when the task does not name them.
bool affordable_unnamed(const Job &job, const symbolic::Sizes &sizes);

struct MainSizes {
  symbolic::Sizes sizes;
  std::string note;               ///< why they are not the task's; else empty
  std::optional<Failure> failure; ///< the reference works at no affordable sizes
};

/// Chooses the main sizes; always the task's own for torch tasks.
DeviceResult<MainSizes> choose_main_sizes(Job &job, std::mt19937_64 &random);

} // namespace warpwright::runner
