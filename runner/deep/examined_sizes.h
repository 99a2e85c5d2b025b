// Sizes for launches under tools, which slow down some kernels a hundredfold. Thread: any.
#pragma once

#include "support/model/task.h"

namespace warpwright::runner::deep {

/// The smallest of the task's sizes, and the largest with a cost within `max_elements`, which may
/// be the measured sizes. The cost is the number of elements in all buffers; for a compute-bound
/// task, it counts operations. Returns at least one.
std::vector<symbolic::Sizes> examined_sizes(const model::Task &task, std::int64_t max_elements);

/// The measured sizes if their cost is within `max_elements`, else the largest such sizes.
symbolic::Sizes profiled_sizes(const model::Task &task, std::int64_t max_elements);

/// Value of the launch's option --size: "n=7,m=3".
std::string size_argument(const symbolic::Sizes &sizes);

} // namespace warpwright::runner::deep
