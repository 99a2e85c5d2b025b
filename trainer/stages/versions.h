// Measured versions of each task, from the records, for learning. Thread: any, after construction.
#pragma once

#include "trainer/stages/workplace.h"

namespace warpwright::trainer {

struct TaskVersions {
  TrainingTask task;
  TaskView view;
  std::vector<Exemplar>
      versions;       ///< one per source text, with its shortest moves; the unchanged source first
  double best = 0;    ///< largest score
  bool timed = false; ///< some version has a measured speedup
};

/// Versions of the recorded tasks that have a verified version. If the place measures, the suites' tasks are used
/// instead, recorded or not. Tasks that cannot be opened are left out. Errors: the place measures and has no tasks.
Result<std::vector<TaskVersions>> task_versions(Workplace &place, const std::vector<Split> &splits);

/// The training tasks with a verified unchanged source. If the place measures, missing verdicts on unchanged sources
/// are measured first. Errors: no tasks.
Result<std::vector<TaskVersions>> training_tasks(Workplace &place, int in_flight,
                                                 std::stop_token stop);

/// Words of a new vocabulary, from the prompts and all legal moves, most frequent first.
std::vector<std::string> vocabulary_words(Workplace &place, const std::vector<TaskVersions> &tasks);

/// Indices of versions to imitate. They have moves, are verified, at least 2% faster than the unchanged source by their
/// conservative speedup, and within `share` of the task's best log speedup. Tasks without times: all verified versions
/// with moves.
std::vector<std::size_t> versions_to_imitate(const TaskVersions &task, double share);

} // namespace warpwright::trainer
