// Report of a benchmark run: one self-contained HTML page, or text for a terminal.
#pragma once

#include "server/kernelbench/bench_result.h"

#include <string>
#include <vector>

namespace warpwright::server {

struct BenchPage {
  std::string title, command, version, date;
  std::vector<std::string>
      notes; ///< notes that a reader must know: how it was measured, what was left out
};

/// Page with a summary by level and baseline, a plot of sorted ratios and a table of all tasks, with reasons for
/// skipped ones.
std::string render_bench_page(const BenchPage &page, const std::vector<BenchResult> &results);

/// Summary for a terminal, one line for each baseline.
std::string render_bench_text(const std::vector<BenchResult> &results);

} // namespace warpwright::server
