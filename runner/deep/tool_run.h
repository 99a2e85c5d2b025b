// One run of a tool over the launch of a plan: its whole output, and the certainty that nothing of it runs
// any more when this returns. Thread: any; blocks.
#pragma once

#include "runner/deep/leash.h"
#include "support/process.h"

#include <chrono>
#include <stop_token>

namespace warpwright::runner::deep {

struct ToolRun {
  enum class End { ByItself, TimedOut, Stopped };
  End end = End::ByItself;
  ExitStatus status;  ///< of a tool that ended by itself
  std::string output; ///< stdout and stderr together
};

/// Ends early at `deadline` and when `stop` asks: then the tool is killed, the leash is released, and what
/// holds the tool's output (the launch) is waited for, at most a few seconds.
/// Errors: the tool cannot be started.
Result<ToolRun> run_tool(const std::vector<std::string> &command, Leash leash,
                         std::chrono::steady_clock::time_point deadline, std::stop_token stop);

} // namespace warpwright::runner::deep
