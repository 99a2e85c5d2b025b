// A plan as a program would start it: driver calls on one stream, made ready so that nothing of the runner
// lies between them. Thread: the job thread. The modules of the functions must outlive it.
#pragma once

#include "runner/cuda/driver.h"

#include <deque>

namespace warpwright::runner::cuda {

class PlainLaunches {
public:
  /// @return what will be launched: its arguments' bytes may be changed before each start
  LaunchOperation &add(CUfunction function, const LaunchOperation &launch);
  /// @return likewise; nullptr where nothing is to be filled
  FillOperation *add(const FillOperation &fill);
  /// Starts everything in order; the first status that is not success.
  Status start(const Driver &driver, CUstream stream);

private:
  struct Call {
    CUfunction function = nullptr; ///< null: a fill
    LaunchOperation launch;
    std::vector<void *> arguments; ///< into launch.arguments
    FillOperation fill;
  };
  std::deque<Call> calls_; ///< whose elements stay where they are
};

} // namespace warpwright::runner::cuda
