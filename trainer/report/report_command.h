// `warpwright-train report` command: turns logs into one page and TensorBoard event files. Thread: one.
#pragma once

#include "support/error.h"

#include <string>
#include <vector>

namespace warpwright::trainer {

struct ReportOptions {
  std::vector<std::string> runs; ///< folders with a log.jsonl
  std::string page = "report.html";
  std::string tensorboard; ///< folder; empty: "tensorboard" beside the page
  std::string title = "Training report";
  bool quiet = false;
};

/// Writes the page and the event files, and prints their paths to stdout unless `quiet` is set. Errors: no log; a file
/// that cannot be written.
Result<void> run_report(const ReportOptions &options);

} // namespace warpwright::trainer
