// Texts and tables of a torch module's verdict, for lens, hover, comments in files and the
// terminal.
//
// All numbers come from the verdict. Unmeasured values are left out or named as such. Thread: pure
// functions.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"

#include <string>
#include <vector>

namespace warpwright::server {

/// Speedup against one baseline.
struct BaselineRatio {
  std::string name; ///< "eager+graph", "torch.compile", ...
  model::Speedup speedup;
  model::Time reference_time, candidate_time;
};

/// The measured baselines: eager and each variant of torch.compile as CUDA graphs, then as called.
std::vector<BaselineRatio> measured_baselines(const model::Verdict &verdict);

/// "1.80x eager+graph, 1.40x torch.compile+graph · verified · NVIDIA H200". Without a GPU or a
/// time, the reason instead of the speedups.
std::string module_summary(const model::Verdict &verdict);

/// Lines for a comment: device, date, each baseline, the moves.
std::string measured_comment(const model::Verdict &verdict, const std::vector<std::string> &moves);

/// "x float32[16, 128], linear.weight float32[64, 128] -> float32[16, 64]": at most five inputs and
/// states, then the outputs.
std::string shapes_text(const model::Task &task);

/// "Library calls take 12% of its device time."; empty: not measured.
std::string library_text(const model::Verdict &verdict);

/// "memory (91% of the bandwidth measured on this GPU)"; empty: unknown.
std::string bound_text(const model::Verdict &verdict);

/// Markdown table of the measured baselines, and a line with the reason for each missing one; empty
/// without times.
std::string baseline_table(const model::Verdict &verdict);

} // namespace warpwright::server
