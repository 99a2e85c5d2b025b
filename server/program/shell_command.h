// Running of the user's own commands, as a shell would. Thread: one at a time.
#pragma once

#include "support/error.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::program {

struct ShellOptions {
  std::filesystem::path folder;         ///< where it runs
  std::filesystem::path output, errors; ///< files for its stdout and stderr
  std::chrono::milliseconds limit{std::chrono::hours(1)};
  std::vector<std::string> environment; ///< "NAME=value", added to our own or replacing them
};

struct ShellRun {
  int status = 0;         ///< as a shell gives it: 128 + N after the signal N
  double seconds = 0;     ///< wall time
  bool timed_out = false; ///< it was ended at its limit, with all processes that it had started
};

/// Runs `sh -c COMMAND` to its end, with an empty stdin. It stays in our process group, so that
/// Ctrl-C reaches it. Errors: no shell can be started.
Result<ShellRun> run_shell(const std::string &command, const ShellOptions &options);

/// The last lines of a file, at most `most_bytes`; empty: it cannot be read.
std::string tail_of(const std::filesystem::path &file, std::size_t most_bytes = 2000);

} // namespace warpwright::program
