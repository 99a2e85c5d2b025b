// Words and tables for what a verdict says of a torch module: lens, hover, comment in the file, terminal.
//
// Every number is a verdict's; what was not measured is left out or said. Thread: pure functions.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"

#include <string>
#include <vector>

namespace warpwright::server {

/// A baseline's ratio as it is shown.
struct BaselineRatio {
  std::string name; ///< "eager+graph", "torch.compile", ...
  model::Speedup speedup;
  model::Time reference_time, candidate_time;
};

/// In the order eager+graph, torch.compile+graph, eager, torch.compile; only those that were measured.
std::vector<BaselineRatio> measured_baselines(const model::Verdict &verdict);

/// "1.80x eager+graph, 1.40x torch.compile+graph · verified · NVIDIA H200"; without a GPU or a time, what is known instead.
std::string module_summary(const model::Verdict &verdict);

/// Lines for a comment: device, date, each baseline, the moves.
std::string measured_comment(const model::Verdict &verdict, const std::vector<std::string> &moves);

/// "x float32[16, 128], linear.weight float32[64, 128] -> float32[16, 64]": inputs and state, at most five of them
std::string shapes_text(const model::Task &task);

/// "Library calls take 12% of the time."; empty: not measured.
std::string library_text(const model::Verdict &verdict);

/// "memory (91% of what this GPU was measured to copy)"; empty: not known.
std::string bound_text(const model::Verdict &verdict);

/// A Markdown table of the baselines, and lines on shapes, bounds and what else is known; empty without times.
std::string baseline_table(const model::Verdict &verdict);

} // namespace warpwright::server
