// A plan as a sequence of driver calls on one stream, as a user's program would start it. The calls
// are prepared in advance, so that the runner adds no work between them. Thread: the job thread.
// The modules of the functions must outlive PlainLaunches.
#pragma once

#include "runner/cuda/driver.h"

#include <deque>

namespace warpwright::runner::cuda {

class PlainLaunches {
public:
  /// @return the stored launch; the bytes of its arguments may be changed before each start()
  LaunchOperation &add(CUfunction function, const LaunchOperation &launch);
  /// @return the stored fill, which may be changed likewise; nullptr if the fill has no bytes
  FillOperation *add(const FillOperation &fill);
  /// Starts all operations in order. @return the first status that is not success, else 0
  Status start(const Driver &driver, CUstream stream);

private:
  struct Call {
    CUfunction function = nullptr; ///< null: a fill
    LaunchOperation launch;
    std::vector<void *> arguments; ///< pointers to the bytes of launch.arguments
    FillOperation fill;
  };
  std::deque<Call> calls_; ///< a deque, so that elements keep their addresses
};

} // namespace warpwright::runner::cuda
