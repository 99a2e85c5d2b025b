// Implementation of Scheduler: fiber switches, and completion of barriers and warp operations.
#include "runner/cpu/scheduler.h"

#include "runner/cpu/faults.h"

#include <bit>
#include <cstring>

namespace warpwright::runner::cpu {
namespace {

namespace context = boost::context::detail;

// Global because kernel code has no parameter that leads to its scheduler. Signal handling is also
// one per process (faults.h).
Scheduler *active = nullptr;
std::uint32_t current_context[12];

int barrier_symbol(int kind, int predicate, int site) {
  return active->barrier(kind, predicate, site);
}

std::uint64_t warp_symbol(int operation, unsigned mask, unsigned long long value, int argument,
                          int width) {
  return active->warp({static_cast<WarpOperation>(operation), mask, value, argument, width, __builtin_return_address(0)});
}

} // namespace

void set_active_scheduler(Scheduler *scheduler) { active = scheduler; }
std::uint32_t *fiber_context() { return current_context; }

std::vector<std::pair<const char *, void *>> scheduler_symbols() {
  return {{"__ww_barrier", reinterpret_cast<void *>(&barrier_symbol)},
          {"__ww_warp", reinterpret_cast<void *>(&warp_symbol)},
          {kFiberContext, current_context}};
}

bool Scheduler::prepare(std::size_t threads, const std::vector<std::string> &sites) {
  if (!stacks_.reserve(threads))
    return false;
  if (threads_.size() < threads) {
    threads_.resize(threads);
    std::memset(block_dim_, 0, sizeof(block_dim_)); // makes start_threads() renumber the threads
  }
  warps_.resize((threads_.size() + kWarpSize - 1) / kWarpSize);
  sites_ = sites;
  return true;
}

void Scheduler::fiber_main(context::transfer_t transfer) {
  Scheduler &self = *static_cast<Scheduler *>(transfer.data);
  self.home_ = transfer.fctx;
  self.function_(self.arguments_);
  self.threads_[self.current_].state = State::Done;
  context::jump_fcontext(self.home_, nullptr);
}

void Scheduler::number_threads() {
  std::size_t i = 0;
  for (std::uint32_t z = 0; z < block_dim_[2]; ++z)
    for (std::uint32_t y = 0; y < block_dim_[1]; ++y)
      for (std::uint32_t x = 0; x < block_dim_[0]; ++x, ++i) {
        threads_[i].index[0] = x;
        threads_[i].index[1] = y;
        threads_[i].index[2] = z;
      }
}

void Scheduler::start_threads(const std::uint32_t *shape) {
  std::memcpy(current_context + 3, shape, 9 * sizeof(std::uint32_t));
  if (std::memcmp(block_dim_, shape + 3, sizeof(block_dim_)) != 0) {
    std::memcpy(block_dim_, shape + 3, sizeof(block_dim_));
    count_ = std::size_t{block_dim_[0]} * block_dim_[1] * block_dim_[2];
    number_threads();
  }
  for (std::size_t i = 0; i < count_; ++i) {
    threads_[i].state = State::Ready;
    threads_[i].fiber =
        context::make_fcontext(stacks_.top(i), FiberStacks::kStackBytes - 4096, fiber_main);
  }
  for (std::size_t i = 0; i < count_; i += kWarpSize) {
    Warp &warp = warps_[i / kWarpSize];
    const std::size_t lanes = std::min<std::size_t>(kWarpSize, count_ - i);
    warp.present = warp.ready = lanes == kWarpSize ? ~0u : (1u << lanes) - 1u;
    warp.waiting = warp.exited = 0;
  }
  alive_ = count_;
  at_barrier_ = 0;
}

void Scheduler::run_block(ThreadFunction function, const void *arguments,
                          const std::uint32_t *shape, ThreadOrder order) {
  function_ = function;
  arguments_ = arguments;
  order_ = order;
  start_threads(shape);
  const std::size_t warps = (count_ + kWarpSize - 1) / kWarpSize;
  while (true) {
    for (std::size_t i = 0; i < warps; ++i)
      run_warp(order == ThreadOrder::Forward ? i : warps - 1 - i);
    if (alive_ == 0)
      return;
    if (at_barrier_ != alive_) {
      report_deadlock();
      leave_launch();
    }
    release_barrier();
  }
}

void Scheduler::resume(Warp &warp, std::size_t index) {
  Thread &thread = threads_[index];
  current_ = index;
  thread.state = State::Ready;
  std::memcpy(current_context, thread.index, sizeof(thread.index));
  thread.fiber = context::jump_fcontext(thread.fiber, this).fctx;
  const std::uint32_t lane = 1u << index % kWarpSize;
  warp.ready &= ~lane;
  if (thread.state == State::Done) {
    warp.exited |= lane;
    --alive_;
  } else if (thread.state == State::Barrier) {
    ++at_barrier_;
  } else {
    warp.waiting |= lane;
  }
}

void Scheduler::suspend(State state) {
  threads_[current_].state = state;
  home_ = context::jump_fcontext(home_, nullptr).fctx;
}

int Scheduler::barrier(int kind, int predicate, int site) {
  const std::size_t self = current_;
  Thread &thread = threads_[self];
  thread.barrier_kind = static_cast<unsigned char>(kind);
  thread.predicate = predicate;
  thread.site = site;
  suspend(State::Barrier);
  return threads_[self].barrier_result;
}

std::uint64_t Scheduler::warp(const LaneRequest &request) {
  const std::size_t self = current_;
  warps_[self / kWarpSize].requests[self % kWarpSize] = request;
  suspend(State::Warp);
  return warps_[self / kWarpSize].results[self % kWarpSize];
}

void Scheduler::run_warp(std::size_t warp) {
  while (warps_[warp].ready) {
    run_ready_lanes(warp);
    if (!warps_[warp].waiting || (!complete_operations(warp) && !complete_active_masks(warp)))
      return;
  }
}

void Scheduler::run_ready_lanes(std::size_t index) {
  Warp &warp = warps_[index];
  const bool forward = order_ == ThreadOrder::Forward;
  for (std::uint32_t lanes = warp.ready; lanes;) {
    const auto lane =
        static_cast<unsigned>(forward ? std::countr_zero(lanes) : 31 - std::countl_zero(lanes));
    lanes &= ~(1u << lane);
    resume(warp, index * kWarpSize + lane);
  }
}

/// The subset of `lanes` that waits at the same operation with the same mask as the lowest lane.
static std::uint32_t same_operation(const std::array<LaneRequest, kWarpSize> &requests,
                                    std::uint32_t lanes) {
  const LaneRequest &first = requests[static_cast<unsigned>(std::countr_zero(lanes))];
  std::uint32_t group = 0;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const LaneRequest &request = requests[static_cast<unsigned>(std::countr_zero(rest))];
    if (request.operation == first.operation && request.mask == first.mask)
      group |= rest & -rest;
  }
  return group;
}

bool Scheduler::complete_operations(std::size_t index) {
  const Warp &warp = warps_[index];
  bool any = false;
  for (std::uint32_t rest = warp.waiting; rest;) {
    const LaneRequest &request = warp.requests[static_cast<unsigned>(std::countr_zero(rest))];
    const std::uint32_t group = same_operation(warp.requests, rest);
    rest &= ~group;
    if (request.operation == WarpOperation::ActiveMask ||
        group != (request.mask & warp.present & ~warp.exited))
      continue;
    complete(index, group);
    any = true;
  }
  return any;
}

/// Completes one __activemask for the lanes that wait at it: a call of its own in each branch, as on a GPU. Called
/// only when no other lane of the warp can proceed, so the waiting lanes are the active ones.
bool Scheduler::complete_active_masks(std::size_t index) {
  const Warp &warp = warps_[index];
  std::uint32_t group = 0;
  const void *site = nullptr;
  for (std::uint32_t lanes = warp.waiting; lanes; lanes &= lanes - 1) {
    const LaneRequest &request = warp.requests[static_cast<unsigned>(std::countr_zero(lanes))];
    if (request.operation != WarpOperation::ActiveMask || (group && request.site != site))
      continue;
    site = request.site;
    group |= lanes & -lanes;
  }
  if (group)
    complete(index, group);
  return group != 0;
}

void Scheduler::complete(std::size_t index, std::uint32_t lanes) {
  Warp &warp = warps_[index];
  evaluate(lanes, warp.requests, warp.results);
  warp.waiting &= ~lanes;
  warp.ready |= lanes;
}

void Scheduler::release_barrier() {
  int count = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (threads_[i].state != State::Barrier)
      continue;
    count += threads_[i].predicate != 0;
    // A warp executes bar.sync as one instruction, so its lanes must not wait at different sites
    // (PTX ISA, "bar").
    for (std::size_t k = i; k-- > i / kWarpSize * kWarpSize;)
      if (threads_[k].state == State::Barrier) {
        if (threads_[k].site != threads_[i].site) {
          report_divergence(k, i);
          leave_launch();
        }
        break;
      }
  }
  const int all = count == static_cast<int>(at_barrier_);
  for (std::size_t i = 0; i < count_; ++i) {
    Thread &thread = threads_[i];
    if (thread.state != State::Barrier)
      continue;
    thread.barrier_result = thread.barrier_kind == 1   ? count
                            : thread.barrier_kind == 2 ? all
                                                       : count != 0;
    warps_[i / kWarpSize].ready |= 1u << i % kWarpSize;
  }
  at_barrier_ = 0;
}

} // namespace warpwright::runner::cpu
