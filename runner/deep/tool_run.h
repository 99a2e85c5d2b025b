// One run of a tool over the launch of a plan. When it returns, the output is complete, and neither
// the tool nor the launch runs any more. Thread: any; blocks.
#pragma once

#include "runner/deep/leash.h"
#include "support/process.h"

#include <chrono>
#include <stop_token>

namespace warpwright::runner::deep {

struct ToolRun {
  enum class End { ByItself, TimedOut, Stopped };
  End end = End::ByItself;
  ExitStatus status;  ///< valid if the tool ended by itself
  std::string output; ///< stdout and stderr together
};

/// Ends the run early at `deadline` or when `stop` is requested: kills the tool, releases the
/// leash, and waits at most a few seconds until the launch has closed the tool's output.
/// Errors: the tool cannot be started.
Result<ToolRun> run_tool(const std::vector<std::string> &command, Leash leash,
                         std::chrono::steady_clock::time_point deadline, std::stop_token stop);

} // namespace warpwright::runner::deep
