// One verification on the runner for a tool, with its stages as progress. Thread: any; blocks.
#pragma once

#include "server/mcp/workbench.h"

namespace warpwright::mcp {

/// Verifies and measures a plan, with a thorough check and unpredictable inputs.
/// @param profile also reads hardware counters
/// Errors: no runner, a lost runner, a cancelled call.
Result<model::Verdict> judge(Workbench &bench, const ToolCall &call,
                             const config::ProjectConfig &project, const model::Task &task,
                             const model::Plan &plan, bool profile = false);

} // namespace warpwright::mcp
