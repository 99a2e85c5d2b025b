// Texts and tables of a torch module's verdict, for lens, hover, comments in files and the
// terminal.
//
// All numbers come from the verdict. Unmeasured values are left out or named as such. Thread: pure
// functions.
#pragma once

#include "analysis/facts.h"
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

/// The strongest baseline of each way to call the module, in device time ("+graph") and as called:
/// the one with the lowest speedup.
std::vector<BaselineRatio> strongest_baselines(const model::Verdict &verdict);

/// "torch.compile" for "torch.compile+graph".
std::string form_of(const BaselineRatio &baseline);

/// "in a CUDA graph" or "as called".
std::string regime_text(const BaselineRatio &baseline);

/// "keep torch.compile: 1.40x faster than the best verified plan as called": baselines that are
/// faster than the plan by the whole interval, and where the plan is faster. Empty: none is faster.
std::string keep_text(const model::Verdict &verdict);

/// "slower than torch.compile as called": the same baselines, as a property of the plan. Empty: none.
std::string slower_text(const model::Verdict &verdict);

/// "1.80x eager+graph, 1.40x torch.compile+graph · verified · NVIDIA H200". Without a GPU or a
/// time, the reason instead of the speedups.
std::string module_summary(const model::Verdict &verdict);

/// "6.23x faster".
std::string faster_text(const model::Speedup &speedup);

/// "38% of GPU time".
std::string share_text(const analysis::CapturedTime &time);
/// "38% of GPU time in the run of ./main 4096 on 2026-11-26: 1000 launches of 41.2 us on average".
std::string captured_text(const analysis::CapturedTime &time);

/// Lines for a comment: device, date, each baseline, the moves.
std::string measured_comment(const model::Verdict &verdict, const std::vector<std::string> &moves);

/// "x float32[16, 128], linear.weight float32[64, 128] -> float32[16, 64]": at most five inputs and
/// states, then the outputs.
std::string shapes_text(const model::Task &task);

/// "Library calls take 12% of its device time."; empty: not measured.
std::string library_text(const model::Verdict &verdict);

/// "memory (91% of the bandwidth measured on this GPU)"; empty: unknown.
std::string bound_text(const model::Verdict &verdict);

/// "499 us -> 80.1 us": device time per run, before and after; empty: not measured.
std::string times_text(const model::Verdict &verdict);

/// "Bound by memory: 17% -> 91% of the bandwidth measured on this GPU", "Bound by latency, now by
/// memory: ..."; empty: unknown. Shares are those of the candidate's bound; if latency bounds it, of
/// the rate that it uses most.
std::string bound_change_text(const model::Verdict &verdict);

/// Markdown table of the measured baselines, and a line with the reason for each missing one; empty
/// without times.
std::string baseline_table(const model::Verdict &verdict);

} // namespace warpwright::server
