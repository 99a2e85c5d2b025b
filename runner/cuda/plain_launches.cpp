// Implementation of PlainLaunches.
#include "runner/cuda/plain_launches.h"

#include "runner/cuda/function_launch.h"

namespace warpwright::runner::cuda {

LaunchOperation &PlainLaunches::add(CUfunction function, const LaunchOperation &launch) {
  Call &call = calls_.emplace_back(Call{function, launch, {}, {}});
  for (ArgumentValue &argument : call.launch.arguments)
    call.arguments.push_back(argument.bytes.data());
  return call.launch;
}

FillOperation *PlainLaunches::add(const FillOperation &fill) {
  if (fill.size_bytes == 0)
    return nullptr;
  return &calls_.emplace_back(Call{nullptr, {}, {}, fill}).fill;
}

Status PlainLaunches::start(const Driver &driver, CUstream stream) {
  for (Call &call : calls_) {
    const Status status = call.function ? cuda::start(driver, call.function, call.launch, stream,
                                                      call.arguments.data())
                                        : driver.cuMemsetD8Async(call.fill.address, call.fill.byte,
                                                                 call.fill.size_bytes, stream);
    if (status != 0)
      return status;
  }
  return 0;
}

} // namespace warpwright::runner::cuda
