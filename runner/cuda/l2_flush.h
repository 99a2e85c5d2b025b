// Empties the L2 cache of what earlier runs left there.
//
// A carve-out for persisting lines is closed, and such lines are made ordinary again: neither is enough by itself. Then twice the
// L2's size is written. Lines that a kernel asked to be evicted last (createpolicy, prefetch) outlive that. A thorough flush
// first writes twice the L2's size with that priority, and makes these lines ordinary; it takes three times as long. The written value
// changes, so that no compression or write elision can make it free. GPUs before compute capability 8.0 know no
// priorities, and both flushes are the same. Thread: the job thread.
#pragma once

#include "runner/cuda/compiler.h"
#include "runner/cuda/handles.h"

namespace warpwright::runner::cuda {

class L2Flush {
public:
  L2Flush() = default;
  /// @param capability 90 for 9.0
  static DeviceResult<L2Flush> make(const Driver &driver, Compiler &compiler,
                                    const model::DeviceInfo &device);

  Status run(const Driver &driver, CUstream stream, bool thorough);

private:
  Status write_evict_last(const Driver &driver, CUstream stream);

  Memory memory_;
  Module module_;
  CUfunction write_ = nullptr, relax_ = nullptr; ///< null: the GPU knows no priorities
  std::uint64_t words_ = 0;
  unsigned blocks_ = 1;
  unsigned value_ = 0;
};

} // namespace warpwright::runner::cuda
