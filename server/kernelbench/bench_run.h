// Running a benchmark: every task once, several at a time, every result kept as it comes.
//
// A run that was ended goes on where it was. What becomes of one task is bench_task_run's; here is only order, threads and the file.
// Thread: blocks the caller's; callbacks come one at a time.
#pragma once

#include "server/kernelbench/bench_result.h"
#include "server/kernelbench/bench_task.h"
#include "server/kernelbench/candidate_answers.h"
#include "server/kernelbench/export_run.h"
#include "server/optimize/torch_optimizer.h"

namespace warpwright::server {

struct BenchRunOptions {
  int at_once = 2; ///< tasks in work at a time
  TorchLimits limits;
  std::map<std::string, search::Recipe> known; ///< by source hash of the task: tried first
  runner::VerifyOptions verify;
  model::ModuleMode mode = model::ModuleMode::AsMade; ///< in which the tasks' modules are called
  bool standalone = false; ///< exports need no package, where their plans are small enough
  std::filesystem::path export_folder; ///< empty: verified candidates are not written
  /// Other systems' answers, by task: judged in place of plans of ours.
  std::optional<std::map<std::string, CandidateAnswer>> candidates;
  std::chrono::seconds time_limit{0}; ///< no task is begun after it; 0: none
};

struct BenchRunEvents {
  std::function<void(const BenchResult &, std::size_t done, std::size_t all)> on_result;
  /// From any thread; may be empty.
  std::function<void(const std::string &id, const std::string &stage)> on_stage;
};

/// All results: earlier ones and new.
/// Errors: the results file cannot be written; nothing that a task does.
Result<std::vector<BenchResult>> run_bench(const std::vector<BenchTask> &tasks,
                                           runner::BlockingClient &client,
                                           const model::DeviceInfo &device, ResultsFile &file,
                                           const BenchRunOptions &options,
                                           const BenchRunEvents &events, std::stop_token stop);

/// The file that a result was exported to.
std::filesystem::path export_path(const std::filesystem::path &folder, const BenchResult &result);
/// What a run of its export means for a row: one that does not run its kernels is worth nothing.
void take_export_run(const ExportRun &run, BenchResult &result);

/// Numbers and state from the verdict on a verified candidate.
void take_verified(const model::Verdict &verdict, BenchResult &result);
/// The reference's fault: no candidate can do anything about it.
bool is_of_the_task(const model::Verdict &verdict);

/// What an outcome means for a benchmark.
BenchResult bench_result_of(const BenchTask &task, const TorchOutcome &outcome);

} // namespace warpwright::server
