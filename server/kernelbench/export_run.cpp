#include "server/kernelbench/export_run.h"

#include "server/export/model_writer.h"
#include "server/kernelbench/bench_run.h"
#include "server/measured_text.h"
#include "support/files.h"
#include "support/model/json.h"
#include "support/model/verdict_text.h"

#include <algorithm>

namespace warpwright::server {
namespace {

using State = BenchResult::State;

const model::Check *kernels_check(const model::Verdict &verdict) {
  const auto found = std::ranges::find(verdict.checks, model::kKernelsCheck, &model::Check::name);
  return found == verdict.checks.end() ? nullptr : &*found;
}

} // namespace

Result<ExportFiles> export_files(const TorchOutcome &outcome, const model::Verdict &verdict,
                                 const model::DeviceInfo &device, const std::string &plan_name,
                                 bool standalone) {
  const TorchTask &task = *outcome.task;
  auto addition =
      TRY(write_addition(task.task, task.graph, outcome.variants[*outcome.best].proposal.built.plan,
                         {.comment = measured_comment(verdict, {}),
                          .device = verified_device(device),
                          .patterns = task.patterns,
                          .plan_file = plan_name,
                          .standalone = standalone}));
  return ExportFiles{whole_file(task.task.module->source, addition), plan_name,
                     std::move(addition.plan_file)};
}

Result<void> write_export(const ExportFiles &files, const std::filesystem::path &path) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (!files.plan.empty())
    TRY(write_atomically(path.parent_path() / files.plan_name, files.plan));
  return write_atomically(path, files.source);
}

Result<model::Verdict> verify_export(const model::Task &task, const ExportFiles &files,
                                     runner::BlockingClient &client, runner::VerifyOptions options,
                                     std::stop_token stop,
                                     const std::function<void(const std::string &)> &on_stage) {
  model::ModuleStep step{.source = files.source, .exported = true};
  if (!files.plan.empty())
    step.files[files.plan_name] = files.plan;
  model::Plan plan;
  plan.steps.push_back(std::move(step));
  options.host_code = true;
  return client.verify(task, plan, options, std::move(stop), on_stage);
}

void take_export(const model::Verdict &verdict, BenchResult &result) {
  if (const model::Check *check = kernels_check(verdict)) {
    result.kernels_ran = check->passed;
    result.kernels = check->detail;
  }
  result.ratios.clear();
  result.missing.clear();
  if (verdict.outcome == model::Outcome::Verified) {
    const std::string plan_hash = result.plan_hash; // the search's plan, and its share of libraries
    const std::optional<double> library_share = result.library_share;
    take_verified(verdict, result);
    result.plan_hash = plan_hash;
    result.library_share = library_share;
    return;
  }
  result.state = model::blames_reference(verdict) ? State::Unmeasured : State::ExportFailed;
  result.reason =
      "its export: " + (result.kernels_ran == false
                            ? verdict.message
                            : std::string(model::name(verdict.outcome)) + ": " + verdict.message);
}

} // namespace warpwright::server
