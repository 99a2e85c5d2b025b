// Runs the kernels of a candidate's call from a program that holds torch: the call gives the addresses of the memory it was given
// and made, and the executor starts a group of launches and fills that lie between two torch calls. Thread: the job thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpwright::runner {

class CallExecutor {
public:
  virtual ~CallExecutor() = default;
  /// @param addresses one a place of the frame: its arguments, outputs, temporaries, then the results of torch calls in order
  /// @return a CUresult; 0 is success
  virtual int start_group(std::size_t group, const std::uint64_t *addresses) = 0;
};

} // namespace warpwright::runner
