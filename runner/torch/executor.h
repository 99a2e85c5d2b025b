// Interface for starting the kernels of a candidate's call from a program that contains torch. The
// call passes the addresses of its memory, and the executor starts a group of launches and fills
// between two torch calls. Thread: the job thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpwright::runner {

class CallExecutor {
public:
  virtual ~CallExecutor() = default;
  /// Starts one group.
  /// @param addresses one address per place of the frame: arguments, outputs, temporaries, then the
  ///        results of torch calls in order
  /// @return a CUresult; 0 is success
  virtual int start_group(std::size_t group, const std::uint64_t *addresses) = 0;
};

} // namespace warpwright::runner
