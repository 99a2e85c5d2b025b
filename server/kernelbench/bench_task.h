// Benchmark tasks in KernelBench's form: a checkout of Python files by level, or a JSON lines file with `ref_code`.
//
// The source identifies a task; names and paths serve people and resuming. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace warpwright::server {

struct BenchTask {
  std::string id;   ///< "1/23": level and number; the file's name outside of levels
  int level = 0;    ///< 0: none
  std::string name; ///< "23_Softmax"
  std::string source;
};

/// Loads tasks. @param path a folder (with level1/, level2/, ... below it, or of .py files), one .py file, or a
/// .jsonl/.json file of objects with `ref_code`, `level_id` and `task_id`, as in CUDA-L1's release
/// @param levels to load; empty: all @return tasks by level and number
/// Errors: nothing found, a line that is not JSON (with its number), no task of those levels.
Result<std::vector<BenchTask>> load_bench_tasks(const std::filesystem::path &path,
                                                const std::set<int> &levels);

} // namespace warpwright::server
