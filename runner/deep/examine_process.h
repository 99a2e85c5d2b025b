// Main loop of an examination process: JSON-RPC on stdin and stdout, one request per process.
//
// `examine` {task, plan, options, verdict, device} is answered with the complete verdict;
// notifications `stage` {stage, activity} name the current activity. At the end of stdin, the
// process ends the tools with their children and then itself.
#pragma once

#include <string>

namespace warpwright::runner::deep {

/// @param launcher executable whose subcommand `launch` the tools wrap
/// @return the process's exit code
int run_examine_process(const std::string &launcher);

} // namespace warpwright::runner::deep
