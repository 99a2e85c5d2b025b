// `export --chat`: trajectories of `serve` as supervised data, or as pairs for preference
// learning.
//
//   {"messages": [system, user, .., assistant], "task", "speedup"}   for supervised trainers
//   {"prompt", "chosen", "rejected", "task"}                         for preference trainers
// Both are TRL's conversational forms. Only verified answers are examples; answers of host code,
// of other splits and of excluded sources are skipped. Thread: main.
#pragma once

#include "support/error.h"

#include <string>
#include <vector>

namespace warpwright::trainer {

struct ExportOptions {
  bool chat = false; ///< the only form yet
  std::vector<std::string> files;
  std::string to = "chat.jsonl";
  int best = 4; ///< answers of each task
  double min_speedup = 1;
  bool pairs = false;
  std::string split = "training";
  std::string excluded; ///< as ranker/source_shape.h writes it; empty: nothing is excluded
};

/// Writes the file, and says on stderr how many examples it has and what was left out.
/// Errors: unreadable trajectories; a file that cannot be written; nothing to write.
Result<void> run_export(const ExportOptions &options);

} // namespace warpwright::trainer
