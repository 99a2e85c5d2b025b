// Benchmark run: every task once, several at a time, each result saved at once.
//
// A stopped run can be resumed. This file handles order, threads and the results file; torch_optimizer.h and
// candidate_run.h handle a task. Thread: blocks the caller; callbacks come one at a time.
#pragma once

#include "server/kernelbench/bench_result.h"
#include "server/kernelbench/bench_task.h"
#include "server/kernelbench/candidate_answers.h"
#include "server/optimize/torch_optimizer.h"

namespace warpwright::server {

struct BenchRunOptions {
  int at_once = 2; ///< tasks in work at a time
  TorchLimits limits;
  std::map<std::string, search::Recipe> known; ///< by source hash of the task; tried first
  runner::VerifyOptions verify;
  std::vector<std::string> baselines; ///< as VerifyOptions::baselines; of exports and of answers
  std::chrono::milliseconds measure_budget{1'000};    ///< of an export or an answer, per baseline
  model::ModuleMode mode = model::ModuleMode::AsMade; ///< in which the tasks' modules are called
  bool standalone = false; ///< exports need no package, where their plans are small enough
  std::filesystem::path export_folder; ///< empty: exports are not kept
  /// Other systems' answers by task, judged in place of our plans.
  std::optional<std::map<std::string, CandidateAnswer>> candidates;
  std::chrono::seconds time_limit{0}; ///< no task starts after it; 0: no limit
};

struct BenchRunEvents {
  std::function<void(const BenchResult &, std::size_t done, std::size_t all)> on_result;
  /// Called from any thread; may be empty.
  std::function<void(const std::string &id, const std::string &stage)> on_stage;
};

/// All results, earlier ones and new ones.
/// Errors: the results file cannot be written; failures of tasks are results.
Result<std::vector<BenchResult>> run_bench(const std::vector<BenchTask> &tasks,
                                           runner::BlockingClient &client,
                                           const model::DeviceInfo &device, ResultsFile &file,
                                           const BenchRunOptions &options,
                                           const BenchRunEvents &events, std::stop_token stop);

/// Copies numbers and state from the verdict on a verified candidate.
void take_verified(const model::Verdict &verdict, BenchResult &result);

/// Benchmark result for the outcome of an optimization.
BenchResult bench_result_of(const BenchTask &task, const TorchOutcome &outcome);

} // namespace warpwright::server
