// Calibration of a GPU: its rates, the duration of the probe kernel, and the judge's compiled code.
// The service measures these values once for each GPU, driver and build of the runner, and keeps
// them sealed. Workers get the rates and the duration in environment variables and find the code on
// the judge's shelf (code_shelves.h). So no data written by a client's process affects the verdict
// of another client.
// Thread: any; takes seconds the first time.
#pragma once

#include "runner/service/code_shelves.h"
#include "support/model/verdict.h"

#include <string>
#include <vector>

namespace warpwright::runner {

/// Environment variables for the workers of this GPU. A value that could not be measured is absent.
/// @param device "cuda:0"
std::vector<std::string> calibration_of(const std::string &device, const model::DeviceInfo &info,
                                        const CodeShelves &shelves);

} // namespace warpwright::runner
