// Command `warpwright optimize --kernelbench`: optimizes, summarizes and exports the tasks of a benchmark.
#pragma once

#include "support/model/task.h"

#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace warpwright::server {

struct BenchCommand {
  std::string path;        ///< a checkout, a Python file, or JSON lines with `ref_code`
  std::vector<int> levels; ///< empty: all
  std::string tasks;       ///< "1/23,2/5": only these; empty: all
  std::string results =
      "kernelbench-results.jsonl"; ///< written during the run; the next run resumes from it
  std::string known; ///< results of an earlier run; its best plans are tried first; empty: none
  std::string html, json; ///< paths; empty: not written
  std::string export_folder;
  bool standalone = false;     ///< exports need no package, where their plans are small enough
  std::string candidates;      ///< a folder or JSON lines of other systems' answers; empty: ours
  std::string candidate_field; ///< of JSON lines; empty: the first that is known
  std::string runner, device;  ///< as in `optimize`
  int at_once = 0;             ///< tasks at a time; 0: two per worker of a GPU, one on a CPU
  int workers_per_gpu = 3;     ///< of a runner that is started
  int max_variants = 8;
  model::ModuleMode mode = model::ModuleMode::AsMade; ///< in which the modules are called
  bool no_measure = false;     ///< verify and export only
  bool stages = false;         ///< report each task's stage on stderr
  double minutes = 0;          ///< no task starts later; 0: no limit
  double measure_seconds = 1;  ///< for the export of each task's best, against each baseline
  std::vector<std::string> baselines = {
      "torch.compile"};        ///< beside eager (VerifyOptions::baselines)
  double search_seconds = 0.3; ///< for each variant
  std::string command;         ///< as typed, for the report
};

/// Runs the benchmark; progress goes to stderr, the summary to stdout.
/// @return 0: every task has a result; 1: the runner or a file failed, or the run was stopped; 2: wrong arguments
int run_kernelbench(const BenchCommand &command, std::stop_token stop);

} // namespace warpwright::server
