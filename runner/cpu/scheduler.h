// Scheduler that runs the threads of one block as fibers, including barriers and warp operations.
//
// Warps run one after another. The lanes of a warp run in order until each lane waits or has ended.
// A warp operation completes when all lanes of its mask that have not exited wait at it. The block
// barrier completes when every thread that has not exited waits at it, as on the hardware. If lanes
// wait for each other at different places, the scheduler reports a deadlock and names them. The
// scheduler does not model time, and threads that poll memory make no progress: a kernel that spins
// until another thread of its block writes runs into the deadline. Thread: the one that runs kernel
// code; one scheduler runs at a time.
#pragma once

#include "runner/cpu/fiber_stacks.h"
#include "runner/cpu/jit.h"
#include "runner/cpu/warp_operations.h"

#include <boost/context/detail/fcontext.hpp>

namespace warpwright::runner::cpu {

class Scheduler {
public:
  /// Prepares for blocks of up to `threads` threads.
  /// @param sites the locations of the barriers
  /// @return false if memory for the stacks cannot be mapped
  bool prepare(std::size_t threads, const std::vector<std::string> &sites);
  /// Runs one block. Ends the launch by leave_launch() after a fault.
  /// @param shape blockIdx, blockDim, gridDim
  void run_block(ThreadFunction function, const void *arguments, const std::uint32_t *shape,
                 ThreadOrder order);
  /// The thread that runs now, for example "thread (1,0,0)".
  std::string running_thread() const;
  const FiberStacks &stacks() const { return stacks_; }

  // Called by kernel code, on a fiber.
  int barrier(int kind, int predicate, int site);
  std::uint64_t warp(const LaneRequest &request);

private:
  enum class State : unsigned char { Ready, Barrier, Warp, Done };
  struct Thread {
    State state = State::Ready;
    unsigned char barrier_kind = 0;
    int predicate = 0;
    int site = 0;
    int barrier_result = 0;
    std::uint32_t index[3]{}; ///< threadIdx
    boost::context::detail::fcontext_t fiber = nullptr;
  };
  struct Warp {
    std::array<LaneRequest, kWarpSize> requests;
    std::array<std::uint64_t, kWarpSize> results;
    std::uint32_t present = 0, ready = 0, waiting = 0,
                  exited = 0; ///< bit masks of lanes; the remaining lanes wait at the barrier
  };

  static void fiber_main(boost::context::detail::transfer_t transfer);
  void start_threads(const std::uint32_t *shape);
  void number_threads();
  void resume(Warp &warp, std::size_t index);
  void suspend(State state);
  void run_warp(std::size_t warp);
  void run_ready_lanes(std::size_t warp);
  bool complete_operations(std::size_t warp);
  bool complete_active_masks(std::size_t warp);
  void complete(std::size_t warp, std::uint32_t lanes);
  void release_barrier();
  std::string position(std::size_t index) const;
  std::string waiting_at(std::size_t index) const;
  void report_deadlock();
  void report_divergence(std::size_t first, std::size_t second);

  FiberStacks stacks_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::string> sites_;
  std::size_t count_ = 0;   ///< threads of the running block
  std::size_t current_ = 0; ///< running thread
  std::size_t alive_ = 0, at_barrier_ = 0;
  ThreadOrder order_ = ThreadOrder::Forward;
  std::uint32_t block_dim_[3]{}; ///< block shape that the indices in threads_ match
  ThreadFunction function_ = nullptr;
  const void *arguments_ = nullptr;
  boost::context::detail::fcontext_t home_ = nullptr;
};

/// Sets the scheduler that kernel code calls. The launcher calls this function before each launch.
void set_active_scheduler(Scheduler *scheduler);

/// The context of the running fiber. Kernel code reads it as kFiberContext.
std::uint32_t *fiber_context();

std::vector<std::pair<const char *, void *>> scheduler_symbols();

} // namespace warpwright::runner::cpu
