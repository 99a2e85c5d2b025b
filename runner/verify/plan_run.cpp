#include "runner/verify/plan_run.h"
#include "runner/verify/torch_operations.h"

#include <regex>

namespace warpwright::runner {

using model::Direction;
using model::Outcome;

DeviceResult<void> SavedOutputs::save(Job &job, const BufferSet &set) {
  TRY(allocate(job, set));
  return copy(job, set);
}

DeviceResult<void> SavedOutputs::allocate(Job &job, const BufferSet &set) {
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction == Direction::In)
      continue;
    const BoundBuffer &bound = set.bound().at(buffer.name);
    auto copy =
        TRY(GuardedBuffer::make(job.device, bound.elements * model::size_bytes(bound.dtype), 0));
    copies.emplace(buffer.name, std::move(copy));
  }
  return {};
}

DeviceResult<void> SavedOutputs::copy(Job &job, const BufferSet &set) {
  for (const auto &[name, memory] : copies)
    if (memory.size_bytes() > 0)
      TRY(job.device.copy(memory.address(), set.bound().at(name).address, memory.size_bytes()));
  return {};
}

DeviceResult<std::optional<Failure>> run_once(Job &job, BufferSet &set, const model::Plan &plan,
                                              const CompiledPlan &compiled, unsigned char poison) {
  TRY(set.prepare(job, poison));
  auto operations =
      TRY(bind_plan(plan, compiled, job.task, set.sizes(), set.bound(), job.device.torch()));
  TRY(run(job.device, operations));
  TRY(job.device.synchronize());
  auto damage = TRY(set.find_damage(job, poison));
  if (damage)
    return Failure{Outcome::SuspectedCheat, "guard regions untouched", *damage};
  auto changed = TRY(set.find_changed_input(job));
  if (changed)
    return Failure{Outcome::SuspectedCheat, "inputs unchanged", *changed};
  return std::nullopt;
}

bool uses_atomics(const std::string &source) {
  for (const char *spelling : {"atomic", "red.", "reduce_add", "cuda::"})
    if (source.find(spelling) != std::string::npos)
      return true;
  return false;
}

bool relies_on_alignment(const std::string &source) {
  static const std::regex wide(
      R"(\b(u?(char|short|int|long|longlong)|float|double|half|__half|__nv_bfloat16|bfloat16)[1-4]\b|\b__half2|\b__nv_bfloat162|reinterpret_cast|\basm\b|wmma|memcpy_async|__align__|alignas|assume_aligned|\(\s*(const\s+)?\w+\s*\*\s*\)\s*[&\w])");
  return std::regex_search(source, wide);
}

namespace {

/// Outputs and new state of the module in float64, on the inputs in `given`.
DeviceResult<ExactOutputs> run_exact_module(Job &job, const BoundBuffers &given) {
  std::map<std::string, GuardedBuffer> outputs;
  BoundBuffers results;
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction == Direction::In)
      continue;
    const std::uint64_t elements = given.at(buffer.name).elements;
    const model::Dtype dtype =
        model::is_floating(buffer.dtype) ? model::Dtype::Float64 : buffer.dtype;
    auto memory = TRY(GuardedBuffer::make(job.device, elements * model::size_bytes(dtype), 0));
    results[buffer.name] = {memory.address(), dtype, elements};
    outputs.emplace(buffer.name, std::move(memory));
  }
  auto operation = TRY(bind_exact_module(job.device.torch(), job.task, given, results));
  TRY(run_torch(*job.device.torch(), std::get<TorchOperation>(operation)));
  TRY(job.device.synchronize());
  return ExactOutputs(std::move(outputs));
}

DeviceResult<void> prepare_exact(Job &job, BufferSet &set, std::uint64_t rounding) {
  TRY(set.prepare(job, kPoisons[0]));
  return rounding ? set.round_inputs(job, rounding) : DeviceResult<void>{};
}

DeviceResult<ExactOutputs> run_exact_plan(Job &job, const Drawing &drawing, BufferSet set,
                                          std::uint64_t rounding) {
  TRY(set.use_temporaries_of(job, *job.task.reference_fp64));
  TRY(prepare_exact(job, set, rounding));
  auto operations = TRY(bind_plan(*job.task.reference_fp64, *job.plans.reference_fp64, job.task,
                                  drawing.sizes, set.bound(), nullptr, true));
  TRY(run(job.device, operations));
  TRY(job.device.synchronize());
  return ExactOutputs(std::move(set));
}

/// True for faults that only leave accuracy less known: a module need not run in float64.
bool is_only_less_known(const Fault &fault) {
  return !fault.device_lost &&
         (fault.kind == Fault::Kind::Unsupported || fault.kind == Fault::Kind::OutOfMemory);
}

} // namespace

DeviceResult<ExactRun> run_exact(Job &job, const Drawing &drawing, std::uint64_t rounding) {
  const bool is_torch = job.task.module.has_value();
  if (!is_torch && !job.plans.reference_fp64)
    return ExactRun{};
  Drawing aligned = drawing;
  aligned.misaligned = false;
  auto set = BufferSet::make(job, aligned, !is_torch);
  if (!set && is_torch && is_only_less_known(set.error()))
    return ExactRun{std::nullopt, set.error().message};
  if (!set)
    return std::unexpected(set.error());
  job.enter("verifying", "running the fp64 reference at " + drawing.text(), Side::Reference);
  job.device.set_thread_order(ThreadOrder::Forward);
  if (is_torch)
    TRY(prepare_exact(job, *set, rounding));
  auto outputs = is_torch ? run_exact_module(job, set->bound())
                          : run_exact_plan(job, drawing, std::move(*set), rounding);
  if (!outputs && is_torch && is_only_less_known(outputs.error())) {
    job.enter("verifying", "comparing", Side::Nobody);
    return ExactRun{std::nullopt, outputs.error().message};
  }
  if (!outputs)
    return std::unexpected(outputs.error());
  job.enter("verifying", "comparing", Side::Nobody);
  return ExactRun{std::move(*outputs), std::nullopt};
}

} // namespace warpwright::runner
