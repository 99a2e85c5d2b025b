// Default tolerance of tasks that set none. Thread: any.
#pragma once

#include "support/model/task.h"

namespace warpwright::model {

/// Default tolerance of a task with these buffers. If all floating-point results are float64, the
/// tolerance is far below float32's accuracy, so that float32 results do not pass; else it is
/// Tolerance's own default.
Tolerance default_tolerance(const std::vector<Buffer> &buffers);

} // namespace warpwright::model
