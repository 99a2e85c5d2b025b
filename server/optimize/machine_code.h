// Machine code of a plan for a GPU, compiled and disassembled on this machine. Needs no GPU; takes
// seconds.
#pragma once

#include "server/features/machine_code.h"
#include "support/error.h"
#include "support/model/plan.h"

namespace warpwright::server {

/// @param capability 90 for 9.0
/// Errors: no runner's program or no NVRTC on this machine; a plan that does not compile or is not CUDA source.
Result<features::MachineCode> machine_code_of(const model::Plan &plan, int capability);

} // namespace warpwright::server
