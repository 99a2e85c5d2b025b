// Messages of the scheduler about deadlocks and divergent barriers.
#include "runner/cpu/faults.h"
#include "runner/cpu/scheduler.h"

#include <bit>

namespace warpwright::runner::cpu {
namespace {

std::string triple(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

std::string block_name() {
  const std::uint32_t *context = fiber_context();
  return "block " + triple(context[3], context[4], context[5]);
}

} // namespace

std::string Scheduler::position(std::size_t index) const {
  return "thread " + triple(index % block_dim_[0], index / block_dim_[0] % block_dim_[1],
                            index / block_dim_[0] / block_dim_[1]);
}

std::string Scheduler::running_thread() const { return position(current_); }

std::string Scheduler::waiting_at(std::size_t index) const {
  const Thread &thread = threads_[index];
  if (thread.state == State::Done)
    return "has exited";
  if (thread.state == State::Barrier) {
    const std::string &site = sites_[static_cast<std::size_t>(thread.site)];
    return "waits at __syncthreads" + (site.empty() ? "" : " (" + site + ")");
  }
  const LaneRequest &request = warps_[index / kWarpSize].requests[index % kWarpSize];
  char mask[16];
  std::snprintf(mask, sizeof(mask), "%#x", request.mask);
  return "waits at " + std::string(name(request.operation)) + " with mask " + mask;
}

void Scheduler::report_deadlock() {
  std::size_t stuck = 0;
  while (!(warps_[stuck / kWarpSize].waiting >> stuck % kWarpSize & 1u))
    ++stuck;
  const std::size_t warp = stuck / kWarpSize;
  const LaneRequest &request = warps_[warp].requests[stuck % kWarpSize];
  std::string message =
      "deadlock in " + block_name() + ": " + position(stuck) + " " + waiting_at(stuck);
  if (!(request.mask >> (stuck % kWarpSize) & 1u)) {
    record_fault(Fault::Kind::Crash, message + ", which does not name its own lane");
    return;
  }
  for (std::size_t lane = 0; lane < std::min<std::size_t>(kWarpSize, count_ - warp * kWarpSize);
       ++lane) {
    const std::size_t other = warp * kWarpSize + lane;
    const LaneRequest &theirs = warps_[warp].requests[lane];
    const bool together = threads_[other].state == State::Warp &&
                          theirs.operation == request.operation && theirs.mask == request.mask;
    if ((request.mask >> lane & 1u) && threads_[other].state != State::Done && !together) {
      message += ", but " + position(other) + " of the same warp " + waiting_at(other);
      break;
    }
  }
  const std::size_t exited = count_ - alive_;
  if (exited)
    message += "; " + std::to_string(exited) +
               (exited == 1 ? " thread has exited" : " threads have exited");
  record_fault(Fault::Kind::Crash, message);
}

void Scheduler::report_divergence(std::size_t first, std::size_t second) {
  record_fault(Fault::Kind::Crash, "barrier in divergent code in " + block_name() + ": " +
                                       position(first) + " " + waiting_at(first) + ", but " +
                                       position(second) + " of the same warp " +
                                       waiting_at(second));
}

} // namespace warpwright::runner::cpu
