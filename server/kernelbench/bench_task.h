// Tasks of a benchmark in KernelBench's form: a checkout of Python files by level, or a JSON lines file with `ref_code`.
//
// A task is its source; names and places are for people and for resuming. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace warpwright::server {

struct BenchTask {
  std::string id;   ///< "1/23": level and number; of a file outside of levels its name
  int level = 0;    ///< 0: none
  std::string name; ///< "23_Softmax"
  std::string source;
};

/// @param path a folder (with level1/, level2/, ... somewhere below, or of .py files), one .py file, or a .jsonl/.json file of objects
/// with `ref_code`, `level_id` and `task_id`, as CUDA-L1's release has it
/// @param levels which; empty: all
/// @return by level and number
/// Errors: nothing there, a line that is no JSON (with its number), no task of those levels.
Result<std::vector<BenchTask>> load_bench_tasks(const std::filesystem::path &path,
                                                const std::set<int> &levels);

} // namespace warpwright::server
