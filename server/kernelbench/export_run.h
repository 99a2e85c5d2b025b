// The export of a verified plan, as `warpwright optimize FILE` writes it: its files, and its verification and
// measurement as a user's program would run it.
//
// The runner loads the export in a process of its own (docs/use/candidates.md), with the plan file beside the class, and
// counts the calls that the kernels answer. Thread: blocks the caller; several may run at once.
#pragma once

#include "server/kernelbench/bench_result.h"
#include "server/optimize/torch_optimizer.h"

#include <filesystem>
#include <functional>
#include <stop_token>

namespace warpwright::server {

struct ExportFiles {
  std::string source;    ///< the task's own file, then the decorated class ModelNew
  std::string plan_name; ///< of the plan file beside it
  std::string plan;      ///< text of the plan file; empty: the class needs none
};

/// The export of an outcome's best plan.
/// @param verdict with the figures for the comment
/// Errors: a step that torch cannot run.
Result<ExportFiles> export_files(const TorchOutcome &outcome, const model::Verdict &verdict,
                                 const model::DeviceInfo &device, const std::string &plan_name,
                                 bool standalone);
/// Writes the class to `path` and the plan file beside it. Errors: a file cannot be written.
Result<void> write_export(const ExportFiles &files, const std::filesystem::path &path);

/// Verifies the export as host code, and measures it as `options` say.
/// @param options of the verification; host_code is set here
/// Errors: the runner is lost.
Result<model::Verdict> verify_export(const model::Task &task, const ExportFiles &files,
                                     runner::BlockingClient &client, runner::VerifyOptions options,
                                     std::stop_token stop,
                                     const std::function<void(const std::string &)> &on_stage);

/// Replaces the plan's figures in a result by those of its export. An export whose kernels did not answer every call,
/// or that is refused for another reason, is a failure.
void take_export(const model::Verdict &verdict, BenchResult &result);

} // namespace warpwright::server
