// Properties of a GPU that the driver reports: name, memory and capabilities. rates.h adds the
// measured properties. Thread: any.
#pragma once

#include "runner/cuda/driver.h"
#include "support/model/verdict.h"

namespace warpwright::runner::cuda {

/// @param which a CUdevice_attribute value
/// @return the attribute's value; 0 if the driver does not know the attribute
int attribute(const Driver &driver, int which, CUdevice device);
model::DeviceInfo describe_device(const Driver &driver, CUdevice device);

} // namespace warpwright::runner::cuda
