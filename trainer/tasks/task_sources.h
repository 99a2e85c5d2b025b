// Where the tasks of a run come from: the shipped suite, other suites, a KernelBench checkout, a folder of the user's own sources.
//
// A source of tasks is named by its path, and `@training`, `@validation` or `@held-out` behind it says what its tasks are for. A folder
// with family.toml files is a suite (suite.h), drawn at several shapes. One with KernelBench's levels, or a JSON lines file with
// `ref_code`, is a benchmark: held out, unless it says otherwise. Any other folder holds sources: training, unless it says otherwise, at
// the sizes written in them. What is no task is skipped and said. Thread: any.
#pragma once

#include "trainer/tasks/suite.h"

namespace warpwright::trainer {

struct TaskChoice {
  std::vector<std::string> sources; ///< empty: the shipped suite
  Split split = Split::Training;
  int variations = 4;     ///< shapes of each task of a suite
  int at_most = 0;        ///< tasks in all, evenly over families; 0: all
  std::uint64_t seed = 1; ///< of the shapes
};

struct ChosenTasks {
  std::vector<TrainingTask> tasks;
  std::vector<std::string> skipped; ///< "FILE: why", of folders
};

/// Errors: as load_suite(); a source that is not there or holds no task at all.
Result<ChosenTasks> choose_tasks(const TaskChoice &choice);

/// Tasks of a KernelBench checkout, or of a JSON lines file with `ref_code`. family: "kernelbench/1".
Result<ChosenTasks> import_benchmark(const std::filesystem::path &path, Split split);

/// Every kernel of .cu files and every module by KernelBench's conventions of .py files below a folder. family: the name of the file.
/// A kernel whose facts cannot be inferred is found out when it is opened.
Result<ChosenTasks> import_sources(const std::filesystem::path &folder, Split split);

} // namespace warpwright::trainer
