// Flush of the L2 cache, which removes data of earlier runs.
//
// The flush closes the carve-out for persisting lines and makes persisting lines ordinary; neither
// step is enough by itself. It then writes twice the size of the L2. Lines that a kernel marked as
// evict-last (createpolicy, prefetch) survive these writes. A thorough flush first writes twice the
// size of the L2 with evict-last priority and makes those lines ordinary; it takes three times as
// long. The written value changes with each flush, so that compression or write elision cannot skip
// the writes. GPUs before compute capability 8.0 have no priorities, so both kinds of flush are the
// same there. Thread: the job thread.
#pragma once

#include "runner/cuda/compiler.h"
#include "runner/cuda/handles.h"

namespace warpwright::runner::cuda {

class L2Flush {
public:
  L2Flush() = default;
  static DeviceResult<L2Flush> make(const Driver &driver, Compiler &compiler,
                                    const model::DeviceInfo &device);

  Status run(const Driver &driver, CUstream stream, bool thorough);

private:
  Status write_evict_last(const Driver &driver, CUstream stream);

  Memory memory_;
  Module module_;
  CUfunction write_ = nullptr, relax_ = nullptr; ///< null if the GPU has no priorities
  std::uint64_t words_ = 0;
  unsigned blocks_ = 1;
  unsigned value_ = 0;
};

} // namespace warpwright::runner::cuda
