// GPUs that tests plan for. Thread: any.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::test {

inline elements::DeviceFacts h200() { return arch::gpu_named("h200").value(); }

} // namespace warpwright::test
