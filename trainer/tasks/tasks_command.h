// `warpwright-train tasks`: shows what a choice of tasks holds, and writes their sources out, to look at and to run other tools on.
// Thread: one.
#pragma once

#include "trainer/tasks/task_sources.h"

namespace warpwright::trainer {

struct TasksOptions {
  TaskChoice choice;
  std::string write; ///< folder for the sources at their shapes; empty: only list
};

/// One line a task on stdout; what was skipped on stderr. Errors: as choose_tasks(); a file that cannot be written.
Result<void> run_tasks(const TasksOptions &options);

} // namespace warpwright::trainer
