#include "runner/verify/controls.h"
#include "runner/verify/output_judge.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

using model::Direction;

/// Largest share of the device's memory for which the previous outputs are kept.
constexpr double kKeptShare = 1.0 / 16;
/// Drawings needed: a constant comes from the first drawing, and the previous output is missing there.
constexpr int kDrawingsForOwnValues = 2;

std::uint64_t bytes_of(const SavedOutputs &outputs) {
  std::uint64_t bytes = 0;
  for (const auto &[name, memory] : outputs.copies)
    bytes += memory.size_bytes();
  return bytes;
}

/// True if an input has the output's type and number of elements.
bool is_like(const model::Buffer &input, const BoundBuffer &in, const model::Buffer &output,
             const BoundBuffer &out) {
  return input.dtype == output.dtype && in.elements == out.elements;
}

} // namespace

Controls::Controls(const Job &job) {
  controls_.push_back({Control::Kind::Zeros, ""});
  controls_.push_back({Control::Kind::Constant, ""});
  controls_.push_back({Control::Kind::PreviousOutput, ""});
  for (const model::Buffer &buffer : job.task.buffers)
    if (buffer.direction == Direction::In)
      controls_.push_back({Control::Kind::InputCopy, buffer.name});
}

DeviceResult<void> Controls::judge(Job &job, const BufferSet &set, SavedOutputs &scratch,
                                   SavedOutputs &reference, const ExactOutputs *exact) {
  for (Control &control : controls_) {
    if (!control.alive)
      continue;
    auto made = TRY(make(job, set, control, reference, scratch));
    if (!made) {
      control.alive = control.kind == Control::Kind::PreviousOutput && !previous_;
      continue;
    }
    control.alive = TRY(passes(job, set, scratch, reference, exact));
    ++control.tried;
  }
  const bool wants_previous = std::ranges::any_of(controls_, [](const Control &control) {
    return control.alive && control.kind == Control::Kind::PreviousOutput;
  });
  previous_.reset();
  if (wants_previous && static_cast<double>(bytes_of(reference)) <
                            kKeptShare * static_cast<double>(job.device.info().memory_bytes))
    previous_ = std::move(reference);
  return {};
}

DeviceResult<bool> Controls::make(Job &job, const BufferSet &set, const Control &control,
                                  const SavedOutputs &reference, SavedOutputs &scratch) {
  if (control.kind == Control::Kind::PreviousOutput && !previous_)
    return false;
  for (const model::Buffer &buffer : job.task.buffers) {
    if (!job.judges(buffer))
      continue;
    const GuardedBuffer &to = scratch.copies.at(buffer.name);
    if (to.size_bytes() == 0)
      continue;
    DeviceResult<void> done;
    if (control.kind == Control::Kind::Zeros) {
      done = to.poison_payload(0);
    } else if (control.kind == Control::Kind::Constant) {
      auto bits = TRY(constant_of(job, buffer, reference));
      const element::Change set_all{.type = type_code(buffer),
                                    .what = element::Change::Set,
                                    .bands = {},
                                    .unit = 0,
                                    .seed = 0,
                                    .bits = bits};
      done = job.checker.change(set_all, to.address(),
                                to.size_bytes() / model::size_bytes(buffer.dtype));
    } else if (control.kind == Control::Kind::InputCopy) {
      const auto input = std::ranges::find(job.task.buffers, control.input, &model::Buffer::name);
      const BoundBuffer &from = set.bound().at(control.input);
      if (!is_like(*input, from, buffer, set.bound().at(buffer.name)))
        return false;
      done = job.device.copy(to.address(), from.address, to.size_bytes());
    } else {
      const GuardedBuffer &from = previous_->copies.at(buffer.name);
      if (from.size_bytes() != to.size_bytes())
        return false;
      done = job.device.copy(to.address(), from.address(), to.size_bytes());
    }
    if (!done)
      return std::unexpected(done.error());
  }
  return true;
}

DeviceResult<std::uint64_t> Controls::constant_of(Job &job, const model::Buffer &buffer,
                                                  const SavedOutputs &reference) {
  if (const auto known = constants_.find(buffer.name); known != constants_.end())
    return known->second;
  std::uint64_t bits = 0;
  TRY(job.device.download(&bits, reference.copies.at(buffer.name).address(),
                          model::size_bytes(buffer.dtype)));
  return constants_[buffer.name] = bits;
}

DeviceResult<bool> Controls::passes(Job &job, const BufferSet &set, const SavedOutputs &scratch,
                                    const SavedOutputs &reference, const ExactOutputs *exact) {
  for (const model::Buffer &buffer : job.task.buffers) {
    if (!job.judges(buffer))
      continue;
    const GuardedBuffer &expected = reference.copies.at(buffer.name);
    const Address got = scratch.copies.at(buffer.name).address();
    OutputRuns runs{.candidate = {got, got},
                    .reference = {expected.address(), expected.address()},
                    .elements = expected.size_bytes() / model::size_bytes(buffer.dtype)};
    if (runs.elements == 0)
      continue;
    if (exact)
      runs.exact = exact->at(buffer.name);
    auto judgement = TRY(judge_output(job, set.drawing(), buffer, runs, false, false));
    if (judgement.findings.wrong || judgement.findings.unwritten)
      return false;
  }
  return true;
}

std::optional<std::string> Controls::passed() const {
  for (const Control &control : controls_) {
    const bool own =
        control.kind == Control::Kind::Constant || control.kind == Control::Kind::PreviousOutput;
    if (!control.alive || control.tried < (own ? kDrawingsForOwnValues : 1))
      continue;
    switch (control.kind) {
    case Control::Kind::Zeros:
      return "zeros pass as its result";
    case Control::Kind::Constant:
      return "one constant passes as its result for all inputs";
    case Control::Kind::InputCopy:
      return "a copy of its input " + control.input + " passes as its result";
    case Control::Kind::PreviousOutput:
      return "its result on other inputs passes as its result";
    }
  }
  return std::nullopt;
}

} // namespace warpwright::runner
