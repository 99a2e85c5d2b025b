// Recorded verdicts as examples for the ranker: of each task the candidates that were measured,
// with their features.
//
// A candidate is a text that was measured. Where several lists of moves lead to it, the shortest
// one describes it. The unchanged source is no candidate. Facts of kernels need Clang, so a file
// beside the records holds them (kernel_facts.h). Torch modules are left out: 91 verdicts on their
// plans teach nothing. Thread: any.
#pragma once

#include "trainer/ranker/features.h"
#include "trainer/ranker/kernel_facts.h"
#include "trainer/records/record_book.h"

namespace warpwright::trainer {

struct RecordedCandidate {
  Moves moves;
  std::string text_hash;
  Measured measured;
  double score = 0;       ///< speedup; 0: a failure; 1: verified without a time
  double log_speedup = 0; ///< natural logarithm; kFailedLog: a failure
};
/// Stands for a failure where candidates of a task are compared.
inline constexpr double kFailedLog = -1;

struct RankedTask {
  std::string id, family;
  std::string source; ///< source_shape() of the reference
  Split split = Split::Training;
  TaskFacts facts;
  std::vector<RecordedCandidate> candidates; ///< by text hash
  double best = 1;                           ///< largest score, at least the unchanged source's 1
  std::map<Moves, StateRecord> states;       ///< for replays of the search
};

/// The CUDA tasks of a book that have a candidate. Errors: a task's definition cannot be read; a
/// kernel without facts.
Result<std::vector<RankedTask>> ranked_tasks(const RecordBook &book, const KernelFacts &facts,
                                             const model::DeviceInfo &device);

} // namespace warpwright::trainer
