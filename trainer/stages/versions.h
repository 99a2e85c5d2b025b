// All that is recorded of each task, as learning wants it: its measured versions side by side. Thread: any, once made.
#pragma once

#include "trainer/stages/workplace.h"

namespace warpwright::trainer {

struct TaskVersions {
  TrainingTask task;
  TaskView view;
  std::vector<Exemplar>
      versions; ///< one a source text, by the shortest moves that give it; the unchanged one first
  double best = 0;    ///< largest score
  bool timed = false; ///< some version has a measured speedup
};

/// Of recorded tasks of which something was verified; where the place measures, of the suites' tasks instead, recorded or not. Those that
/// cannot be opened are left out. Errors: no tasks.
Result<std::vector<TaskVersions>> task_versions(Workplace &place, const std::vector<Split> &splits);

/// What learning works on: the training tasks, each with the verdict on its unchanged source; measured first where the place measures.
/// Errors: no tasks, and what to do; whatever keeps the environment from going on.
Result<std::vector<TaskVersions>> training_tasks(Workplace &place, int in_flight,
                                                 std::stop_token stop);

/// Words of the prompts and of all legal moves, most frequent first: what a new vocabulary holds.
std::vector<std::string> vocabulary_words(Workplace &place, const std::vector<TaskVersions> &tasks);

/// Versions to imitate: verified, with moves, and within `share` of the task's best log speedup; of tasks without times all
/// verified ones. Indices into `versions`; none where nothing is faster than the unchanged source by 2% for sure.
std::vector<std::size_t> versions_to_imitate(const TaskVersions &task, double share);

} // namespace warpwright::trainer
