// Rotation of drawings: each takes two copies, and redrawing a part rotates that part.
#include "runner/verify/torch_inputs.h"
#include "runner/verify/torch_operations.h"
#include "runner/verify/wide_rows.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

constexpr std::uint64_t kPartOf = 8;

std::uint64_t parameter_seed(const Drawing &drawing) {
  return drawing.parameter_seed ? drawing.parameter_seed : drawing.seed;
}

/// Copies the elements [first, first + count) of `copy.from`, rotated by `offset`, to the same places of the buffer.
DeviceResult<void> copy_rotated(Device &device, const element::RotatedCopy &copy,
                                std::uint64_t offset, std::uint64_t first, std::uint64_t count) {
  while (count > 0) {
    const std::uint64_t source = (first + offset) % copy.elements;
    const std::uint64_t piece = std::min<std::uint64_t>(count, copy.elements - source);
    TRY(device.copy(copy.buffer + first * copy.width, copy.from + source * copy.width,
                    piece * copy.width));
    first += piece;
    count -= piece;
  }
  return {};
}

} // namespace

bool TorchInputs::holds(const Drawing &drawing) const {
  return drawing_.seed == drawing.seed && drawing_.scale == drawing.scale &&
         drawing_.varied == drawing.varied && drawing_.wide_rows_of == drawing.wide_rows_of &&
         parameter_seed(drawing_) == parameter_seed(drawing);
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
    auto memory = TRY(GuardedBuffer::make(job.device, elements * width, 0));
    tensors.push_back(tensor_of(buffer, {memory.address(), buffer.dtype, elements}));
    made->masters_.emplace(index, Master{std::move(memory), elements, width, false});
  }
  TRY(torch->draw({drawing.seed, parameter_seed(drawing), drawing.varied, job.host_code()},
                  drawing.scale, tensors));
  if (drawing.wide_rows_of)
    TRY(made->scale_rows(job, *drawing.wide_rows_of));
  std::size_t rotating = job.task.buffers.size();
  if (job.host_code()) { // its own parameters must equal those of the task's module
    rotating = TRY(torch->input_count());
  }
  for (auto &[index, master] : made->masters_) {
    if (index >= rotating)
      break;
    const model::Buffer &buffer = job.task.buffers[index];
    if (!model::is_floating(buffer.dtype) || buffer.direction != model::Direction::In ||
        master.elements < 2)
      continue;
    auto survey = TRY(job.checker.survey(type_code(buffer), master.memory.address(), master.elements));
    master.rotates = survey.unlike_first >= master.elements / 4 * 3;
  }
  return made;
}

DeviceResult<void> TorchInputs::scale_rows(Job &job, std::size_t index) {
  const model::Buffer &buffer = job.task.buffers[index];
  const Master &master = masters_.at(index);
  const element::Change change{.type = type_code(buffer),
                               .what = element::Change::ScaleBands,
                               .bands = wide_bands(buffer, master.elements),
                               .unit = 0,
                               .seed = 0,
                               .bits = 0};
  return job.checker.change(change, master.memory.address(), master.elements);
}

element::RotatedCopy TorchInputs::copy_in(std::size_t index, Address buffer,
                                          const Drawing &drawing) const {
  const Master &master = masters_.at(index);
  const auto offset = [&](std::uint64_t seed) {
    return master.rotates && seed ? element::mix(seed ^ element::mix(index)) % master.elements : 0;
  };
  element::RotatedCopy copy{buffer,
                            master.memory.address(),
                            master.elements,
                            master.width,
                            offset(drawing.rotation),
                            0,
                            0,
                            0};
  if (!drawing.part_seed || !master.rotates)
    return copy;
  copy.part_count = (master.elements + kPartOf - 1) / kPartOf;
  copy.part_first =
      element::mix(drawing.part_seed + index) % (master.elements - copy.part_count + 1);
  copy.part_offset = offset(drawing.part_seed);
  return copy;
}

DeviceResult<void> TorchInputs::fill(Job &job, std::size_t index, Address to,
                                     const Drawing &drawing) const {
  if (masters_.at(index).elements == 0)
    return {};
  const element::RotatedCopy copy = copy_in(index, to, drawing);
  TRY(copy_rotated(job.device, copy, copy.offset, 0, copy.elements));
  return copy_rotated(job.device, copy, copy.part_offset, copy.part_first, copy.part_count);
}

} // namespace warpwright::runner
