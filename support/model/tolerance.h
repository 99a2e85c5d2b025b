// How exactly a task must come out where it does not say. Thread: any.
#pragma once

#include "support/model/task.h"

namespace warpwright::model {

/// That of a task whose buffers are these: where all floating-point results are float64, far below what float32 could give, which would
/// otherwise pass for it; else Tolerance's own.
Tolerance default_tolerance(const std::vector<Buffer> &buffers);

} // namespace warpwright::model
