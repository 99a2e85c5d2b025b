// Buffers, bindings and recordings of the timed plans.
#include "runner/measure/input_sets.h"
#include "runner/verify/torch_operations.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

/// Largest share of the device's memory for the drawings of all input sets.
constexpr double kMemoryShare = 0.4;

/// Plan with both plans' temporaries under distinct names, so that one buffer set serves both.
model::Plan with_all_temporaries(const model::Plan &reference, const model::Plan &candidate) {
  model::Plan both;
  both.temporaries = candidate.temporaries;
  for (model::Temporary temporary : reference.temporaries) {
    temporary.name = "reference." + temporary.name;
    both.temporaries.push_back(std::move(temporary));
  }
  return both;
}

/// The bindings under the names of the reference's plan.
BoundBuffers reference_view(const BoundBuffers &bound) {
  BoundBuffers view = bound;
  for (const auto &[name, buffer] : bound)
    if (name.starts_with("reference."))
      view[name.substr(10)] = buffer;
  return view;
}

/// Drawing of one set; those of a torch task are rotations of one drawing.
Drawing drawing_of_set(const Job &job, std::uint64_t seed, std::mt19937_64 &random) {
  Drawing drawing{job.task.sizes, job.task.module ? seed : random(), 1, false};
  drawing.varied = !job.host_code();
  drawing.rotation = job.task.module ? random() | 1 : 0;
  return drawing;
}

CallFrame frame_of(const model::Task &task, const model::Plan &plan, const BoundBuffers &bound) {
  const auto is_output = [](const model::Buffer &buffer) {
    return buffer.direction == model::Direction::Out;
  };
  CallFrame frame;
  frame.arguments = tensors_of(task, bound, std::not_fn(is_output));
  frame.outputs = tensors_of(task, bound, is_output);
  for (const model::Temporary &temporary : plan.temporaries) {
    const BoundBuffer &buffer = bound.at(temporary.name);
    frame.temporaries.push_back(
        {buffer.address, buffer.dtype, {static_cast<std::int64_t>(buffer.elements)}, {}, ""});
  }
  return frame;
}

std::size_t affordable_sets(const Job &job, const BoundBuffers &bound) {
  double bytes = 1;
  for (const auto &[name, buffer] : bound)
    bytes += static_cast<double>(buffer.elements * model::size_bytes(buffer.dtype));
  if (job.task.module) // torch also keeps the results of recorded calls
    for (const model::Buffer &buffer : job.task.buffers)
      if (buffer.direction == model::Direction::Out)
        bytes +=
            static_cast<double>(bound.at(buffer.name).elements * model::size_bytes(buffer.dtype));
  const double sets = kMemoryShare * static_cast<double>(job.device.info().memory_bytes) / bytes;
  return std::clamp<std::size_t>(static_cast<std::size_t>(sets), 1, InputSets::kMostSets);
}

DeviceResult<BufferSet> made_set(Job &job, const Drawing &drawing, const model::Plan &temporaries) {
  auto set = BufferSet::make(job, drawing);
  if (!set)
    return std::unexpected(set.error());
  TRY(set->use_temporaries_of(job, temporaries));
  TRY(set->prepare(job, kPoisons[0]));
  return set;
}

} // namespace

DeviceResult<InputSets> InputSets::make(Job &job, std::mt19937_64 &random, std::size_t most_sets,
                                        bool reference_alone) {
  InputSets made;
  made.reference_alone_ = reference_alone;
  const model::Plan temporaries = with_all_temporaries(job.task.reference, job.candidate);
  std::size_t wanted = most_sets;
  const std::uint64_t seed = random() >> 24;
  while (made.sets_.size() < wanted) {
    auto set = made_set(job, drawing_of_set(job, seed, random), temporaries);
    if (!set && set.error().kind == Fault::Kind::OutOfMemory && !made.sets_.empty())
      break; // the remaining memory is too small
    if (!set)
      return std::unexpected(set.error());
    if (made.sets_.empty())
      wanted = std::min(wanted, affordable_sets(job, set->bound()));
    made.sets_.push_back({std::move(*set), {}, {}});
  }
  auto loaded = made.load_anew(job, random);
  // Torch's own memory during a run is not known in advance.
  while (!loaded && loaded.error().kind == Fault::Kind::OutOfMemory && made.sets_.size() > 1) {
    made.sets_.pop_back();
    for (InputSet &set : made.sets_)
      for (std::unique_ptr<Recording> &recording : set.recordings)
        recording.reset();
    loaded = made.load_anew(job, random);
  }
  if (!loaded)
    return std::unexpected(loaded.error());
  return made;
}

DeviceResult<void> InputSets::load_anew(Job &job, std::mt19937_64 &random) {
  // A torch module has no code of ours to load, so its recordings stay.
  const auto stays = [&](std::size_t side) {
    return side == kCandidateSide ? reference_alone_
                                  : job.task.module && sets_.front().recordings[side];
  };
  for (InputSet &set : sets_)
    for (const std::size_t side : {kReferenceSide, kCandidateSide})
      if (!stays(side))
        set.recordings[side].reset();
  const std::size_t first = random() % 2;
  for (const std::size_t side : {first, 1 - first})
    if (stays(side))
      continue;
    else if (auto ready = make_ready(job, side); !ready)
      return ready;
  return {};
}

DeviceResult<void> InputSets::make_ready(Job &job, std::size_t side) {
  const model::Plan &plan = side == kCandidateSide ? job.candidate : job.task.reference;
  auto compiled = TRY(compile_plan(job.device, plan));
  plans_[side] = std::move(compiled);
  for (InputSet &set : sets_) {
    const BoundBuffers &bound = set.buffers.bound();
    auto operations =
        TRY(bind_plan(plan, plans_[side], job.task, job.task.sizes,
                      side == kCandidateSide ? bound : reference_view(bound), job.device.torch()));
    auto recording =
        TRY(job.task.module ? job.device.record_module(operations, frame_of(job.task, plan, bound))
                            : job.device.record(operations));
    set.operations[side] = std::move(operations);
    set.recordings[side] = std::move(recording);
  }
  return {};
}

CompiledPlan InputSets::take_candidate() {
  sets_.clear();
  return std::move(plans_[kCandidateSide]);
}

} // namespace warpwright::runner
