// What the service asks of a GPU itself, once for each GPU, driver and build of the runner, and keeps sealed: the GPU's rates, the
// duration of the probe kernel, and the judge's own compiled code. Workers are told the first two in their environment and find the
// code on the judge's shelf (code_shelves.h), so nothing that a client's process writes decides another verdict.
// Thread: any; takes seconds the first time.
#pragma once

#include "runner/service/code_shelves.h"
#include "support/model/verdict.h"

#include <string>
#include <vector>

namespace warpwright::runner {

/// Variables for workers of this GPU: those that are known. @param device "cuda:0"
std::vector<std::string> calibration_of(const std::string &device, const model::DeviceInfo &info,
                                        const CodeShelves &shelves);

} // namespace warpwright::runner
