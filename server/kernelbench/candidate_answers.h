// Other systems' answers to a benchmark's tasks: modules of Python source by task, from a folder or a file of JSON lines.
//
// Nothing of them is run here; runner/torch/python/candidate_process.py does that. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <map>
#include <string>

namespace warpwright::server {

struct CandidateAnswer {
  std::string source; ///< text of a Python file
  std::string model;  ///< its class: "ModelNew", or "Model" where it has no other
  std::string where;  ///< "answers.jsonl, line 7"
};

/// @param path a folder of Python files (level1/23_Name.py, level_1_problem_23_....py), one such file, or JSON lines with `level_id`,
/// `task_id` and the text under `field`
/// @param field empty: the first of code, custom_code, cuda_code, model_new that a line has
/// @return by BenchTask::id. A line without a text, or without a class in it, is no answer; of several for one task the first counts.
/// Errors: nothing there, a line that is no JSON or names no task (with its number), no line with such a field.
Result<std::map<std::string, CandidateAnswer>> load_candidates(const std::filesystem::path &path,
                                                               const std::string &field);

} // namespace warpwright::server
