// Other systems' answers to benchmark tasks: Python modules by task, from a folder or a JSON lines file.
//
// Answers are only read here; runner/torch/python/candidate_process.py runs them. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <map>
#include <string>

namespace warpwright::server {

struct CandidateAnswer {
  std::string source; ///< text of a Python file
  std::string model;  ///< its class: "ModelNew", else "Model"
  std::string where;  ///< "answers.jsonl, line 7"
};

/// @param path a folder of Python files (level1/23_Name.py, level_1_problem_23_....py), one such file, or JSON lines
/// with `level_id`, `task_id` and the text under `field`
/// @param field empty: the first of code, custom_code, cuda_code, model_new in a line
/// @return answers by BenchTask::id; texts without a class are left out, and the first answer to a task counts
/// Errors: nothing found; a line that is not JSON or names no task (with its number); no line with that field.
Result<std::map<std::string, CandidateAnswer>> load_candidates(const std::filesystem::path &path,
                                                               const std::string &field);

} // namespace warpwright::server
