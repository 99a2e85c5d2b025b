// Launcher of linked kernels: it checks the launch shape as CUDA does, packs the arguments and runs
// the blocks.
//
// Blocks run one after another on the calling thread, in the order of the request's ThreadOrder.
// Shared memory is poisoned before each block. All blocks use one CPU thread, because atomics and
// shared variables rely on that. Thread: the job thread.
#pragma once

#include "runner/cpu/jit.h"
#include "runner/cpu/memory.h"
#include "runner/cpu/scheduler.h"

namespace warpwright::runner::cpu {

/// Dynamic shared memory between two inaccessible guard regions.
class DynamicShared {
public:
  DynamicShared();
  DynamicShared(const DynamicShared &) = delete;
  DynamicShared &operator=(const DynamicShared &) = delete;
  ~DynamicShared();
  /// Start address of a region of `size_bytes` bytes, rounded up to 16, that ends at the guard.
  char *place(std::size_t size_bytes) const;
  bool contains(Address address) const;
  Address end() const { return reinterpret_cast<Address>(memory_) + kBytes; }

private:
  static constexpr std::size_t kBytes = 256 * 1024;
  static constexpr std::size_t kGuard = 1 << 20;
  char *memory_ = nullptr;
};

class Launcher {
public:
  explicit Launcher(const GuardedMemory &memory) : memory_(memory) {}

  struct Request {
    const LaunchOperation &operation;
    const LinkedKernel &kernel;
    const KernelForm &form;
    const std::vector<std::uint32_t> &parameter_sizes;
    const std::vector<std::string> &barrier_sites;
    ThreadOrder order = ThreadOrder::Forward;
    std::optional<std::chrono::steady_clock::time_point> deadline;
  };
  /// Returns when the launch has ended. Faults: BadLaunch, Unsupported (a cooperative launch of
  /// several blocks), Crash, Timeout, OutOfMemory.
  DeviceResult<void> run(const Request &request);

private:
  static void body(void *self);
  static std::string describe_address(void *self, std::uintptr_t address);
  void run_blocks();
  void run_block(std::uint32_t x, std::uint32_t y, std::uint32_t z);
  void poison_shared() const;
  std::string where() const;

  const GuardedMemory &memory_;
  DynamicShared dynamic_;
  Scheduler scheduler_;
  std::vector<unsigned char> arguments_;
  const Request *request_ = nullptr; ///< during run()
  std::uint32_t shape_[9]{};         ///< blockIdx, blockDim, gridDim
};

/// The symbol kDynamicShared and its address.
std::vector<std::pair<const char *, void *>> launcher_symbols();

} // namespace warpwright::runner::cpu
