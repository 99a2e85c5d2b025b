// Two runs of the reference alone, and their evaluation.
#include "runner/verify/reference_probe.h"
#include "runner/verify/plan_run.h"

namespace warpwright::runner {
namespace {

using model::Direction;

/// Number of elements of the saved outputs that nobody wrote, over both runs.
DeviceResult<std::uint64_t> count_unwritten(Job &job, const SavedOutputs (&saved)[2]) {
  std::uint64_t count = 0;
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction != Direction::Out)
      continue;
    const GuardedBuffer &first = saved[0].copies.at(buffer.name);
    const std::uint64_t elements = first.size_bytes() / model::size_bytes(buffer.dtype);
    if (elements == 0)
      continue;
    // Compared with zeros, which are written everywhere, only unwritten elements count as "unwritten".
    auto zeros = TRY(GuardedBuffer::make(job.device, first.size_bytes(), 0));
    TRY(zeros.poison_payload(0));
    element::Comparison comparison{.type = type_code(buffer),
                                   .poison = {kPoisons[0], kPoisons[1]}};
    for (int pass = 0; pass < 2; ++pass) {
      comparison.candidate[pass] =
          reinterpret_cast<const void *>(saved[pass].copies.at(buffer.name).address());
      comparison.reference[pass] = reinterpret_cast<const void *>(zeros.address());
    }
    comparison.scale = 1;
    auto found = TRY(job.checker.compare(comparison, elements));
    count += found.unwritten;
  }
  return count;
}

/// True if the two runs wrote different values, for example because memory outside the buffers differed.
DeviceResult<bool> is_unstable(Job &job, const SavedOutputs (&saved)[2]) {
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction == Direction::In)
      continue;
    const std::uint64_t elements =
        saved[0].copies.at(buffer.name).size_bytes() / model::size_bytes(buffer.dtype);
    if (elements == 0)
      continue;
    element::Comparison comparison{.type = type_code(buffer),
                                   .compare_runs = true,
                                   .poison = {kPoisons[0], kPoisons[1]}};
    for (int pass = 0; pass < 2; ++pass)
      comparison.candidate[pass] = comparison.reference[pass] =
          reinterpret_cast<const void *>(saved[pass].copies.at(buffer.name).address());
    comparison.scale = 1;
    auto found = TRY(job.checker.compare(comparison, elements));
    if (found.unstable)
      return true;
  }
  return false;
}

DeviceResult<std::optional<std::string>> run_reference(Job &job, const Drawing &drawing,
                                                       bool may_leave_elements) {
  Drawing apart = drawing;
  apart.wide_guards = true;
  auto set = TRY(BufferSet::make(job, apart));
  TRY(set.use_temporaries_of(job, job.task.reference));
  SavedOutputs saved[2];
  for (int pass = 0; pass < 2; ++pass) {
    job.device.set_thread_order(pass == 0 ? ThreadOrder::Forward : ThreadOrder::Reverse);
    auto failure = TRY(run_once(job, set, job.task.reference, job.plans.reference, kPoisons[pass]));
    if (failure)
      return failure->message;
    TRY(saved[pass].save(job, set));
  }
  auto unwritten = TRY(count_unwritten(job, saved));
  if (unwritten && !may_leave_elements)
    return "leaves " + std::to_string(unwritten) + " elements of its outputs unwritten";
  auto unstable = TRY(is_unstable(job, saved));
  if (unstable && !uses_atomics(job.task.reference.source))
    return "gives two results on the same inputs";
  return std::nullopt;
}

} // namespace

DeviceResult<std::optional<std::string>> probe_reference(Job &job, const Drawing &drawing,
                                                         bool may_leave_elements) {
  job.enter("verifying", "running the reference at " + drawing.text(), Side::Reference);
  auto reason = run_reference(job, drawing, may_leave_elements);
  if (!reason && reason.error().device_lost)
    return std::unexpected(reason.error());
  if (!reason)
    reason = "does not run: " + reason.error().message;
  job.enter("verifying", "comparing", Side::Nobody);
  return reason;
}

} // namespace warpwright::runner
