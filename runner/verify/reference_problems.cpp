#include "runner/verify/reference_problems.h"
#include "runner/verify/output_judge.h"

#include <algorithm>
#include <cmath>

namespace warpwright::runner {
namespace {

using model::Direction;
using model::Outcome;

/// Limit for differences due to another order of additions, relative to the output's root mean square.
double order_noise(model::Dtype dtype) {
  switch (dtype) {
  case model::Dtype::Float16:
    return 1e-2;
  case model::Dtype::BFloat16:
    return 5e-2;
  default:
    return 1e-3;
  }
}

Failure problem(const std::string &text, const Drawing &drawing) {
  return {Outcome::Unsupported, "the module is a reference", text + " (" + drawing.text() + ")"};
}

/// Difference of the two runs in one output: 0 within order_noise(), else at least that.
DeviceResult<double> difference(Job &job, const model::Buffer &buffer, Address first,
                                Address second, std::uint64_t elements,
                                const element::Survey &survey) {
  element::Comparison comparison{.type = type_code(buffer),
                                 .poison = {kPoisons[0], kPoisons[1]}};
  for (int pass = 0; pass < 2; ++pass) {
    comparison.candidate[pass] = reinterpret_cast<const void *>(first);
    comparison.reference[pass] = reinterpret_cast<const void *>(second);
  }
  comparison.scale = scale_of(survey);
  comparison.absolute = comparison.relative = order_noise(buffer.dtype);
  comparison.allowed = -1;
  auto found = TRY(job.checker.compare(comparison, elements));
  if (found.wrong == 0)
    return 0;
  return std::max(found.max_relative, order_noise(buffer.dtype));
}

} // namespace

DeviceResult<std::optional<Failure>> find_reference_problem(Job &job, const Drawing &drawing,
                                                            const SavedOutputs (&saved)[2]) {
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction == Direction::In)
      continue;
    const GuardedBuffer &first = saved[0].copies.at(buffer.name);
    const GuardedBuffer &second = saved[1].copies.at(buffer.name);
    const std::uint64_t elements = first.size_bytes() / model::size_bytes(buffer.dtype);
    if (elements == 0)
      continue;
    auto survey = TRY(job.checker.survey(type_code(buffer), first.address(), elements));
    if (survey.nans > 0)
      return problem("the module gives NaN in " + std::to_string(survey.nans) + " of " +
                         std::to_string(elements) + " elements of " + buffer.name,
                     drawing);
    auto apart = TRY(difference(job, buffer, first.address(), second.address(), elements, survey));
    if (apart > 0)
      return problem("two calls of the module on the same inputs give different results in " +
                         buffer.name +
                         ": it draws random numbers (dropout in training?), or keeps what no "
                         "parameter or buffer of it holds",
                     drawing);
  }
  return std::nullopt;
}

DeviceResult<std::optional<Failure>> try_reference(Job &job, const Drawing &drawing) {
  const auto run = [&]() -> DeviceResult<std::optional<Failure>> {
    auto set = TRY(BufferSet::make(job, drawing));
    job.enter("verifying", "running the reference at " + drawing.text(), Side::Reference);
    SavedOutputs saved[2];
    for (int pass = 0; pass < 2; ++pass) {
      auto failure = run_once(job, set, job.task.reference, job.plans.reference, kPoisons[pass]);
      if (!failure || *failure)
        return failure;
      TRY(saved[pass].save(job, set));
    }
    return find_reference_problem(job, drawing, saved);
  };
  auto found = run();
  if (!found && !found.error().device_lost)
    found = problem(found.error().message, drawing);
  job.enter("verifying", "comparing", Side::Nobody);
  return found;
}

} // namespace warpwright::runner
