// What the driver says of a GPU: its name, its memory, what it is capable of. What only measuring tells is added by rates.h.
// Thread: any.
#pragma once

#include "runner/cuda/driver.h"
#include "support/model/verdict.h"

namespace warpwright::runner::cuda {

/// @param which an attribute of the driver's enumeration @return 0 where it is not known
int attribute(const Driver &driver, int which, CUdevice device);
model::DeviceInfo describe_device(const Driver &driver, CUdevice device);

} // namespace warpwright::runner::cuda
