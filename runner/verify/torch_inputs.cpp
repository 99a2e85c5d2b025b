// Rotations are two copies; a part that is drawn anew is a rotation of that part.
#include "runner/verify/torch_inputs.h"
#include "runner/verify/torch_operations.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

constexpr std::uint64_t kPartOf = 8;

std::uint64_t parameter_seed(const Drawing &drawing) {
  return drawing.parameter_seed ? drawing.parameter_seed : drawing.seed;
}

model::Dtype unsigned_of(std::size_t width) {
  return width == 1   ? model::Dtype::UInt8
         : width == 2 ? model::Dtype::UInt16
         : width == 4 ? model::Dtype::UInt32
                      : model::Dtype::UInt64;
}

/// Copies elements [first, first + count) of `from`, seen as rotated by `offset`, to the same places of `to`.
DeviceResult<void> copy_rotated(Device &device, Address to, const Address from,
                                std::uint64_t elements, std::size_t width, std::uint64_t offset,
                                std::uint64_t first, std::uint64_t count) {
  while (count > 0) {
    const std::uint64_t source = (first + offset) % elements;
    const std::uint64_t piece = std::min(count, elements - source);
    if (auto copied = device.copy(to + first * width, from + source * width, piece * width);
        !copied)
      return copied;
    first += piece;
    count -= piece;
  }
  return {};
}

} // namespace

bool TorchInputs::holds(const Drawing &drawing) const {
  return drawing_.seed == drawing.seed && drawing_.scale == drawing.scale &&
         drawing_.varied == drawing.varied && parameter_seed(drawing_) == parameter_seed(drawing);
}

DeviceResult<std::shared_ptr<const TorchInputs>> TorchInputs::draw(Job &job,
                                                                   const Drawing &drawing) {
  TorchHost *torch = job.device.torch();
  if (!torch)
    return std::unexpected(no_torch());
  auto made = std::make_shared<TorchInputs>();
  made->drawing_ = drawing;
  std::vector<TensorArgument> tensors;
  for (std::size_t index = 0; index < job.task.buffers.size(); ++index) {
    const model::Buffer &buffer = job.task.buffers[index];
    if (buffer.direction == model::Direction::Out)
      continue;
    const auto elements =
        static_cast<std::uint64_t>(buffer.extent.evaluate(drawing.sizes).value_or(0));
    const std::size_t width = model::size_bytes(buffer.dtype);
    auto memory = GuardedBuffer::make(job.device, elements * width, 0);
    if (!memory)
      return std::unexpected(memory.error());
    tensors.push_back(tensor_of(buffer, {memory->address(), buffer.dtype, elements}));
    made->masters_.emplace(index, Master{std::move(*memory), elements, width, false});
  }
  if (auto drawn = torch->draw({drawing.seed, parameter_seed(drawing), drawing.varied},
                               drawing.scale, tensors);
      !drawn)
    return std::unexpected(drawn.error());
  std::size_t rotating = job.task.buffers.size();
  if (job.host_code()) { // its parameters are its own, and must be those of the task's module
    auto inputs = torch->input_count();
    if (!inputs)
      return std::unexpected(inputs.error());
    rotating = *inputs;
  }
  for (auto &[index, master] : made->masters_) {
    if (index >= rotating)
      break;
    const model::Buffer &buffer = job.task.buffers[index];
    if (!model::is_floating(buffer.dtype) || buffer.direction != model::Direction::In ||
        master.elements < 2)
      continue;
    auto survey = job.checker.survey(buffer.dtype, master.memory.address(), master.elements);
    if (!survey)
      return std::unexpected(survey.error());
    master.rotates = survey->unlike_first >= master.elements / 4 * 3;
  }
  return made;
}

DeviceResult<void> TorchInputs::fill(Job &job, std::size_t index, Address to,
                                     const Drawing &drawing) const {
  const Master &master = masters_.at(index);
  if (master.elements == 0)
    return {};
  const auto offset = [&](std::uint64_t seed) {
    return master.rotates && seed ? element::mix(seed ^ element::mix(index)) % master.elements : 0;
  };
  const auto copy = [&](std::uint64_t by, std::uint64_t first, std::uint64_t count) {
    return copy_rotated(job.device, to, master.memory.address(), master.elements, master.width, by,
                        first, count);
  };
  if (auto whole = copy(offset(drawing.rotation), 0, master.elements);
      !whole || !drawing.part_seed || !master.rotates)
    return whole;
  const std::uint64_t part = (master.elements + kPartOf - 1) / kPartOf;
  const std::uint64_t first =
      element::mix(drawing.part_seed + index) % (master.elements - part + 1);
  return copy(offset(drawing.part_seed), first, part);
}

DeviceResult<ChangedElements> TorchInputs::find_changed(Job &job, std::size_t index, Address buffer,
                                                        const Drawing &drawing) const {
  const Master &master = masters_.at(index);
  if (master.elements == 0)
    return ChangedElements{};
  auto wanted = GuardedBuffer::make(job.device, master.memory.size_bytes(), 0);
  if (!wanted)
    return std::unexpected(wanted.error());
  if (auto filled = fill(job, index, wanted->address(), drawing); !filled)
    return std::unexpected(filled.error());
  // One run stands for both: no element can look like two poisons at once, so all are compared.
  element::Comparison comparison{.type = static_cast<int>(unsigned_of(master.width)),
                                 .poison = {kPoisons[0], kPoisons[1]}};
  for (int pass = 0; pass < 2; ++pass) {
    comparison.candidate[pass] = reinterpret_cast<const void *>(buffer);
    comparison.reference[pass] = reinterpret_cast<const void *>(wanted->address());
  }
  comparison.scale = 1;
  auto found = job.checker.compare(comparison, master.elements);
  if (!found)
    return std::unexpected(found.error());
  return ChangedElements{found->wrong, found->first_wrong};
}

} // namespace warpwright::runner
