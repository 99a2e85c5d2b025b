// The main loop of the process that examines: JSON-RPC on stdin and stdout, one request in its life.
//
// `examine` {task, plan, options, verdict, device} is answered with the complete verdict; `stage` {stage,
// activity} says what runs meanwhile. The end of stdin asks it to stop: the tools and what they started are
// ended first, then the process.
#pragma once

#include <string>

namespace warpwright::runner::deep {

/// @param launcher the executable whose subcommand `launch` the tools wrap
/// @return the process's exit code
int run_examine_process(const std::string &launcher);

} // namespace warpwright::runner::deep
