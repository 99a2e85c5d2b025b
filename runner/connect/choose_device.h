// Choice of one of a runner's devices by name. Thread: any.
#pragma once

#include "runner/connect/connect.h"

namespace warpwright::runner {

/// @param wanted "cuda", "cuda:1", "cpu"; empty: the runner's best
/// Errors: no such device, with the runner's notes.
Result<model::DeviceInfo> choose_device(const RunnerInfo &info, const std::string &wanted);

} // namespace warpwright::runner
