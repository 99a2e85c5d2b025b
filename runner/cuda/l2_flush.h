// Empties the L2 cache of what earlier runs left there: writes twice its size, after persisting
// lines (cudaAccessPropertyPersisting, evict_last) were made ordinary again. The written value
// changes, so that no compression or write elision can make it free. Thread: the job thread.
#pragma once

#include "runner/cuda/handles.h"

#include <algorithm>

namespace warpwright::runner::cuda {

class L2Flush {
public:
  L2Flush() = default;
  static DeviceResult<L2Flush> make(const Driver &driver, std::uint64_t l2_bytes) {
    L2Flush flush;
    flush.words_ = std::max<std::uint64_t>(2 * l2_bytes, 1 << 20) / 4;
    CUdeviceptr memory = 0;
    if (const Status status = driver.cuMemAlloc(&memory, flush.words_ * 4); status != 0)
      return std::unexpected(driver.to_fault(status, "allocating the L2 flush buffer"));
    flush.memory_ = Memory(driver, memory);
    return flush;
  }

  Status run(const Driver &driver, CUstream stream) {
    if (const Status status = driver.cuCtxResetPersistingL2Cache(); status != 0)
      return status;
    return driver.cuMemsetD32Async(memory_.get(), ++value_, words_, stream);
  }

private:
  Memory memory_;
  std::uint64_t words_ = 0;
  unsigned value_ = 0;
};

} // namespace warpwright::runner::cuda
