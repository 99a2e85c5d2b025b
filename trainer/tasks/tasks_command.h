// `warpwright-train tasks` command: lists the tasks of a choice and can write their sources for other tools.
// Thread: one.
#pragma once

#include "trainer/tasks/task_sources.h"

namespace warpwright::trainer {

struct TasksOptions {
  TaskChoice choice;
  std::string write; ///< folder for sources at their shapes; empty: list only
};

/// Prints one line per task to stdout, and skipped files to stderr. Errors: as choose_tasks(); a file that cannot be
/// written.
Result<void> run_tasks(const TasksOptions &options);

} // namespace warpwright::trainer
