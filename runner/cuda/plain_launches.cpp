// Copies of the operations, and the calls.
#include "runner/cuda/plain_launches.h"

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
    const LaunchOperation &launch = call.launch;
    const Status status =
        call.function
            ? driver.cuLaunchKernel(call.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                    launch.block[0], launch.block[1], launch.block[2],
                                    launch.shared_bytes, stream, call.arguments.data(), nullptr)
            : driver.cuMemsetD8Async(call.fill.address, call.fill.byte, call.fill.size_bytes,
                                     stream);
    if (status != 0)
      return status;
  }
  return 0;
}

} // namespace warpwright::runner::cuda
