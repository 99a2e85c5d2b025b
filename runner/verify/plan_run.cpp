#include "runner/verify/plan_run.h"

namespace warpwright::runner {

using model::Direction;
using model::Outcome;

DeviceResult<void> SavedOutputs::save(Job &job, const BufferSet &set) {
  if (auto made = allocate(job, set); !made)
    return made;
  return copy(job, set);
}

DeviceResult<void> SavedOutputs::allocate(Job &job, const BufferSet &set) {
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction == Direction::In)
      continue;
    const BoundBuffer &bound = set.bound().at(buffer.name);
    auto copy = GuardedBuffer::make(job.device, bound.elements * model::size_bytes(bound.dtype), 0);
    if (!copy)
      return std::unexpected(copy.error());
    copies.emplace(buffer.name, std::move(*copy));
  }
  return {};
}

DeviceResult<void> SavedOutputs::copy(Job &job, const BufferSet &set) {
  for (const auto &[name, memory] : copies)
    if (memory.size_bytes() > 0)
      if (auto copied =
              job.device.copy(memory.address(), set.bound().at(name).address, memory.size_bytes());
          !copied)
        return copied;
  return {};
}

DeviceResult<std::optional<Failure>> run_once(Job &job, BufferSet &set, const model::Plan &plan,
                                              const CompiledPlan &compiled, unsigned char poison) {
  if (auto prepared = set.prepare(job, poison); !prepared)
    return std::unexpected(prepared.error());
  auto operations = bind_plan(plan, compiled, job.task, set.sizes(), set.bound());
  if (!operations)
    return std::unexpected(operations.error());
  if (auto started = run(job.device, *operations); !started)
    return std::unexpected(started.error());
  if (auto ended = job.device.synchronize(); !ended)
    return std::unexpected(ended.error());
  auto damage = set.find_damage(poison);
  if (!damage)
    return std::unexpected(damage.error());
  if (*damage)
    return Failure{Outcome::SuspectedCheat, "guard regions untouched", **damage};
  auto changed = set.find_changed_input(job);
  if (!changed)
    return std::unexpected(changed.error());
  if (*changed)
    return Failure{Outcome::SuspectedCheat, "inputs unchanged", **changed};
  return std::nullopt;
}

bool uses_atomics(const std::string &source) {
  for (const char *spelling : {"atomic", "red.", "reduce_add", "cuda::"})
    if (source.find(spelling) != std::string::npos)
      return true;
  return false;
}

DeviceResult<std::optional<BufferSet>> run_exact(Job &job, const Drawing &drawing) {
  if (!job.plans.reference_fp64)
    return std::nullopt;
  Drawing aligned = drawing;
  aligned.misaligned = false;
  auto set = BufferSet::make(job, aligned, true);
  if (!set)
    return std::unexpected(set.error());
  job.enter("verifying", "running the fp64 reference at " + drawing.text(), Side::Reference);
  job.device.set_thread_order(ThreadOrder::Forward);
  if (auto made = set->use_temporaries_of(job, *job.task.reference_fp64); !made)
    return std::unexpected(made.error());
  if (auto prepared = set->prepare(job, kPoisons[0]); !prepared)
    return std::unexpected(prepared.error());
  auto operations = bind_plan(*job.task.reference_fp64, *job.plans.reference_fp64, job.task,
                              drawing.sizes, set->bound(), true);
  if (!operations)
    return std::unexpected(operations.error());
  if (auto started = run(job.device, *operations); !started)
    return std::unexpected(started.error());
  if (auto ended = job.device.synchronize(); !ended)
    return std::unexpected(ended.error());
  job.enter("verifying", "comparing", Side::Nobody);
  return std::optional<BufferSet>(std::move(*set));
}

} // namespace warpwright::runner
