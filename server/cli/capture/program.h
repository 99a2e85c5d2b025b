// Running of the program that is captured.
#pragma once

#include "support/error.h"

#include <string>
#include <vector>

namespace warpwright::cli {

/// Runs a program with our own stdin, stdout and stderr, in our process group, and waits for it.
/// We outlive the terminal's SIGINT and SIGQUIT, and pass SIGTERM and SIGHUP on.
/// @param environment "NAME=value", added to our own or replacing them
/// @return its exit code, or 128 + N after the signal N
/// Errors: the program cannot be started.
/// @param quiet stdin and stdout are those of /dev/null
Result<int> run_program(const std::vector<std::string> &command,
                        const std::vector<std::string> &environment, bool quiet = false);

} // namespace warpwright::cli
