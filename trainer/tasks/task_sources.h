// Sources of a run's tasks: the shipped suite, other suites, a KernelBench checkout, a recorded run
// of a program, or a folder of user sources.
//
// A source is named by its path. The suffix `@training`, `@validation` or `@held-out` sets the
// split of its tasks.
// - A folder with family.toml files is a suite (suite.h), drawn at several shapes.
// - A folder with KernelBench's levels, or a JSON lines file with `ref_code`, is a benchmark, by
//   default held out.
// - A folder with run.json is a capture (captured_tasks.h), by default for training.
// - Any other folder has sources, by default for training, at the sizes written in them.
// Files and lines without a task are skipped and reported, except for Python files of a benchmark
// folder. Thread: any.
#pragma once

#include "trainer/tasks/suite.h"

namespace warpwright::trainer {

struct TaskChoice {
  std::vector<std::string> sources; ///< empty: the shipped suite
  Split split = Split::Training;
  int variations = 4;     ///< shapes per task of a suite
  int at_most = 0;        ///< total tasks, evenly over families; 0: all
  std::uint64_t seed = 1; ///< of the shapes
};

struct ChosenTasks {
  std::vector<TrainingTask> tasks;
  std::vector<std::string> skipped; ///< "FILE: why"
};

/// Collects the tasks of a choice. Errors: as load_suite(); a source that does not exist or has no task at all.
Result<ChosenTasks> choose_tasks(const TaskChoice &choice);

/// Imports a KernelBench checkout, or a JSON lines file with `ref_code`. The family is, for example, "kernelbench/1".
/// Errors: an unreadable file or folder; a checkout without tasks.
Result<ChosenTasks> import_benchmark(const std::filesystem::path &path, Split split);

/// Imports all kernels of .cu files, and all modules of .py files that follow KernelBench's conventions, below a
/// folder. The family is the file's name. A kernel whose task cannot be inferred fails only when it is opened. Errors:
/// an unreadable file or folder; a folder without tasks.
Result<ChosenTasks> import_sources(const std::filesystem::path &folder, Split split);

} // namespace warpwright::trainer
