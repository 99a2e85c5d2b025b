// One launch of a linked kernel: checks its shape as CUDA would, packs its arguments, and runs its
// blocks.
//
// Blocks run one after another on the calling thread, in the order of the launch's ThreadOrder;
// shared memory is poisoned before each. It leaves out more than one CPU thread: atomics and shared
// variables rely on one. Thread: the job thread.
#pragma once

#include "runner/cpu/jit.h"
#include "runner/cpu/memory.h"
#include "runner/cpu/scheduler.h"

namespace warpwright::runner::cpu {

/// Dynamic shared memory that ends at a page nobody may touch.
class DynamicShared {
public:
  DynamicShared();
  DynamicShared(const DynamicShared &) = delete;
  DynamicShared &operator=(const DynamicShared &) = delete;
  ~DynamicShared();
  /// The start of `size_bytes` bytes, rounded up to 16, before the guard.
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
  /// Returns when the launch has ended. Faults: BadLaunch, Crash, Timeout, OutOfMemory.
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

/// Address of kernel code's kDynamicShared.
std::vector<std::pair<const char *, void *>> launcher_symbols();

} // namespace warpwright::runner::cpu
