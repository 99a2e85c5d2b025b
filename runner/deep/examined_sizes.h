// At which sizes tools look at a launch: they slow a kernel down, some a hundredfold. Thread: any.
#pragma once

#include "support/model/task.h"

namespace warpwright::runner::deep {

/// The smallest of the task's sizes, and the largest within `max_elements` (in all buffers; of a compute-bound
/// task its operations count), which may be the measured ones. At least one.
std::vector<symbolic::Sizes> examined_sizes(const model::Task &task, std::int64_t max_elements);

/// The measured sizes, or, where they are too large, the largest within `max_elements`.
symbolic::Sizes profiled_sizes(const model::Task &task, std::int64_t max_elements);

/// "n=7,m=3": for --size of the launch.
std::string size_argument(const symbolic::Sizes &sizes);

} // namespace warpwright::runner::deep
