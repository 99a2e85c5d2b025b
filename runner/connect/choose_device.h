// Which of a runner's devices a name means, whoever asks. Thread: any.
#pragma once

#include "runner/connect/connect.h"

namespace warpwright::runner {

/// @param wanted "cuda", "cuda:1", "cpu"; empty: the runner's best
/// Errors: there is none; with what the runner notes about it.
Result<model::DeviceInfo> choose_device(const RunnerInfo &info, const std::string &wanted);

} // namespace warpwright::runner
