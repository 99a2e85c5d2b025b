// Least work of a task, from what its launch accesses at the task's sizes.
#pragma once

#include "analysis/task/size_probe.h"

namespace warpwright::analysis {

/// True if the bytes are all of the buffer's, at these sizes.
bool covers(const std::optional<symbolic::Interval> &bytes, const model::Buffer &buffer,
            const symbolic::Sizes &sizes);

/// Bytes of buffers that are read or written whole; for a matrix product also its operations.
/// @param probes of the launch, that at the task's sizes first
model::Work work_of(const model::Task &task, bool is_product, const SizeProbe &prober,
                    const std::vector<Probe> &probes);

} // namespace warpwright::analysis
