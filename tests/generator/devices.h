// GPUs that tests plan for. Thread: any.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

inline DeviceFacts h200() { return arch::gpu_named("h200").value(); }

} // namespace warpwright::generator
