// Comparison of interfaces, and jobs from them.
#include "server/cli/check/comparison.h"
#include "server/optimize/torch_task.h"
#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

constexpr const char *kChanged = "the changed code";

std::string why_no_task(const analysis::Kernel &kernel) {
  if (!kernel.slice_error.empty())
    return kernel.slice_error;
  if (kernel.launches.empty() && kernel.task.missing.empty())
    return "it is not launched in its file";
  return "not all that a run needs is known: " + joined(kernel.task.missing, ", ", &analysis::MissingFact::name);
}

std::string kind_of(const model::Buffer &buffer) {
  const char *direction = buffer.direction == model::Direction::In    ? "input"
                          : buffer.direction == model::Direction::Out ? "output"
                                                                      : "input and output";
  return std::string(direction) + " of " + std::string(model::name(buffer.dtype));
}

/// First difference between the buffers, scalars or sizes of two tasks; empty: none.
std::string difference(const model::Task &base, const model::Task &head) {
  for (const model::Buffer &buffer : head.buffers) {
    const auto before = std::ranges::find(base.buffers, buffer.name, &model::Buffer::name);
    if (before == base.buffers.end())
      return "parameter `" + buffer.name + "` is new";
    if (kind_of(*before) != kind_of(buffer))
      return "parameter `" + buffer.name + "` was " + kind_of(*before) + " and is " + kind_of(buffer);
    if (!(before->extent == buffer.extent))
      return "parameter `" + buffer.name + "` held " + before->extent.text() + " elements and holds " +
             buffer.extent.text();
  }
  for (const model::Scalar &scalar : head.scalars) {
    const auto before = std::ranges::find(base.scalars, scalar.name, &model::Scalar::name);
    if (before == base.scalars.end())
      return "parameter `" + scalar.name + "` is new";
    if (before->dtype != scalar.dtype)
      return "parameter `" + scalar.name + "` has another type";
  }
  for (const model::Buffer &buffer : base.buffers)
    if (std::ranges::find(head.buffers, buffer.name, &model::Buffer::name) == head.buffers.end())
      return "parameter `" + buffer.name + "` is gone";
  for (const model::Scalar &scalar : base.scalars)
    if (std::ranges::find(head.scalars, scalar.name, &model::Scalar::name) == head.scalars.end())
      return "parameter `" + scalar.name + "` is gone";
  return "";
}

Result<CheckJob> job_of(const model::Task &base, const analysis::Kernel &head) {
  if (!head.task.inferred)
    return fail(why_no_task(head));
  if (const std::string differs = difference(base, head.task.task); !differs.empty())
    return fail(differs);
  CheckJob job{base, head.task.task.reference};
  job.candidate.moves = {kChanged};
  if (const auto checked = model::check_plan(job.candidate, job.task); !checked)
    return fail("the changed code cannot run on the task of the base: " + checked.error().message);
  return job;
}

} // namespace

Result<CheckJob> kernel_job(const analysis::Kernel &base, const analysis::Kernel &head) {
  if (!base.task.inferred)
    return fail("at the base: " + why_no_task(base));
  return job_of(base.task.task, head);
}

Result<CheckJob> job_against_original(const runner::LedgerEntry &applied, const analysis::Kernel &head) {
  return job_of(applied.task, head);
}

Result<CheckJob> module_job(const ChangedKernel &changed, runner::BlockingClient &client) {
  if (!changed.base->task.inferred)
    return fail("at the base: it is not known what a call is given");
  if (!changed.head.task.inferred)
    return fail("it is not known what a call is given");
  const model::TorchModule &base = *changed.base->task.task.module;
  const model::TorchModule &head = *changed.head.task.task.module;
  if (base.language != "python" || head.language != "python")
    return fail("changed C++ functions over tensors are not compared: a candidate is a Python module");
  if (!head.files.empty())
    return fail("the module needs other files of the project, which a candidate cannot bring");
  if (head.mode != base.mode)
    return fail("the module is called in another mode");
  auto traced = client.trace(base);
  if (!traced)
    return fail("at the base: " + traced.error().message, traced.error().remedy);
  auto made = TRY(server::make_torch_task(changed.head.name, changed.path, base, std::move(*traced)));
  CheckJob job{std::move(made.task), {}};
  job.candidate.steps.push_back(model::ModuleStep{.source = head.source, .model = head.model});
  job.candidate.moves = {kChanged};
  return job;
}

} // namespace warpwright::cli
