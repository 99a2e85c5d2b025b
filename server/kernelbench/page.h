// The page of a benchmark run: one self-contained HTML file. Thread: pure functions.
#pragma once

#include "server/kernelbench/bench_result.h"

#include <string>
#include <vector>

namespace warpwright::server {

struct BenchPage {
  std::string title, command, version, date;
  std::vector<std::string>
      notes; ///< what a reader must know: how it was measured, what was left out
};

/// Summary by level and baseline, sorted ratios as a plot, every task in a table; skipped and degenerate ones named with their reasons.
std::string render_bench_page(const BenchPage &page, const std::vector<BenchResult> &results);

/// The summary for a terminal, every baseline a line.
std::string render_bench_text(const std::vector<BenchResult> &results);

} // namespace warpwright::server
