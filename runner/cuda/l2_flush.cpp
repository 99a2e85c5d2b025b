#include "runner/cuda/l2_flush.h"

#include <algorithm>

namespace warpwright::runner::cuda {
namespace {

constexpr int kFirstWithPriorities = 80;
constexpr unsigned kThreads = 256, kBlocksPerMultiprocessor = 8;
constexpr std::uint64_t kLineBytes = 128;

/// Instructions from the PTX ISA: createpolicy, st with a cache hint, applypriority.
constexpr const char *kSource = R"(
extern "C" __global__ void ww_write_evict_last(uint4 *to, unsigned long long count, unsigned value) {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull)
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %1, %1, %1}, %2;"
                 :: "l"(to + i), "r"(value), "l"(policy) : "memory");
}
extern "C" __global__ void ww_make_ordinary(char *from, unsigned long long lines) {
  for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < lines; i += gridDim.x * 256ull)
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" :: "l"(from + i * 128) : "memory");
}
)";

} // namespace

DeviceResult<L2Flush> L2Flush::make(const Driver &driver, Compiler &compiler,
                                    const model::DeviceInfo &device) {
  L2Flush flush;
  flush.words_ = std::max<std::uint64_t>(2 * device.l2_bytes, 1 << 20) / 4;
  flush.blocks_ =
      static_cast<unsigned>(std::max(device.multiprocessors, 1)) * kBlocksPerMultiprocessor;
  CUdeviceptr memory = 0;
  if (const Status status = driver.cuMemAlloc(&memory, flush.words_ * 4); status != 0)
    return std::unexpected(driver.to_fault(status, "allocating the L2 flush buffer"));
  flush.memory_ = Memory(driver, memory);
  if (model::capability_of(device) < kFirstWithPriorities)
    return flush;
  auto output = TRY(compiler.compile({kSource, {}, {"ww_write_evict_last", "ww_make_ordinary"}}));
  CUmodule loaded = nullptr;
  if (const Status status = driver.cuModuleLoadData(&loaded, output.code.cubin.data()); status != 0)
    return std::unexpected(driver.to_fault(status, "loading the L2 flush"));
  flush.module_ = Module(driver, loaded);
  for (const auto &[function, name] : {std::pair{&flush.write_, "ww_write_evict_last"},
                                       std::pair{&flush.relax_, "ww_make_ordinary"}})
    if (const Status status = driver.cuModuleGetFunction(function, loaded, name); status != 0)
      return std::unexpected(driver.to_fault(status, std::string("finding ") + name));
  return flush;
}

Status L2Flush::run(const Driver &driver, CUstream stream, bool thorough) {
  std::size_t carved_out = 0;
  // The query fails on a GPU without a carve-out.
  if (driver.cuCtxGetLimit(&carved_out, kLimitPersistingL2) == 0 && carved_out > 0)
    if (const Status status = driver.cuCtxSetLimit(kLimitPersistingL2, 0); status != 0)
      return status;
  if (const Status status = driver.cuCtxResetPersistingL2Cache(); status != 0)
    return status;
  if (thorough && write_)
    if (const Status status = write_evict_last(driver, stream); status != 0)
      return status;
  return driver.cuMemsetD32Async(memory_.get(), ++value_, words_, stream);
}

Status L2Flush::write_evict_last(const Driver &driver, CUstream stream) {
  CUdeviceptr address = memory_.get();
  unsigned long long pieces = words_ / 4, lines = words_ * 4 / kLineBytes;
  unsigned value = ++value_;
  void *write_arguments[] = {&address, &pieces, &value}, *relax_arguments[] = {&address, &lines};
  if (const Status status = driver.cuLaunchKernel(write_, blocks_, 1, 1, kThreads, 1, 1, 0, stream,
                                                  write_arguments, nullptr);
      status != 0)
    return status;
  return driver.cuLaunchKernel(relax_, blocks_, 1, 1, kThreads, 1, 1, 0, stream, relax_arguments,
                               nullptr);
}

} // namespace warpwright::runner::cuda
