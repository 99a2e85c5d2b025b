// `warpwright optimize --kernelbench`: a benchmark's tasks optimised, summed up and exported.
//
// Thread: main.
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
      "kernelbench-results.jsonl"; ///< kept while the run goes on; the next run goes on from it
  std::string known; ///< results of an earlier run, whose best plans are tried first; empty: none
  std::string html, json; ///< paths; empty: not written
  std::string export_folder;
  bool standalone = false; ///< exports need no package, where their plans are small enough
  bool run_exports = false; ///< each once in a fresh Python, with this process's rights
  std::string candidates;      ///< a folder or JSON lines of other systems' answers; empty: ours
  std::string candidate_field; ///< of JSON lines; empty: the first that is known
  std::string runner, device;  ///< as of `optimize`
  int at_once = 0;             ///< tasks in work; 0: two for each worker of a GPU, one on a CPU
  int workers_per_gpu = 3;     ///< of a runner that is started
  int max_variants = 8;
  model::ModuleMode mode = model::ModuleMode::AsMade; ///< in which the modules are called
  bool no_measure = false;     ///< verify and export
  bool stages = false;         ///< tell on stderr what each task is at
  double minutes = 0;          ///< begin no task after so long; 0: all
  double measure_seconds = 1;  ///< of the best of each task, against each baseline
  double search_seconds = 0.3; ///< of each variant
  std::string command;         ///< as typed, for the report
};

/// Progress goes to stderr, the summary to stdout. @return 0 when every task has a result, 1 when the runner or a file failed or the
/// run was ended early, 2 for wrong arguments
int run_kernelbench(const BenchCommand &command, std::stop_token stop);

} // namespace warpwright::server
