// The begin and the end of a capture, for `warpwright capture` and for whole programs.
#pragma once

#include "runner/capture/files/capture_files.h"

#include <chrono>

namespace warpwright::cli {

struct StartedCapture {
  std::filesystem::path folder;
  std::vector<std::string> environment; ///< of the program, "NAME=value"
  capture::RunFacts run;
};

/// Errors: another profiler is loaded in the same way; the capture library is missing.
Result<void> can_capture();

/// Environment of a program that is recorded into a folder, "NAME=value". Errors: those of
/// can_capture().
Result<std::vector<std::string>> capture_environment(const std::filesystem::path &folder);

/// Makes the folder of a capture, as make_capture().
/// @param run its command and the folder to which it belongs
/// @param duration of the recording; nullopt: the whole run
/// Errors: those of can_capture(); the folder is not empty or cannot be made.
Result<StartedCapture> start_capture(const std::string &wanted, capture::RunFacts run,
                                     std::optional<std::chrono::milliseconds> duration = std::nullopt);

/// Notes the program's exit code. Errors: the file cannot be written.
Result<void> end_capture(StartedCapture &capture, int status);

/// The processes of a capture. @param problems gets an error for each that cannot be read
std::vector<capture::ProcessFolder> read_processes(const std::filesystem::path &folder, std::vector<Error> &problems);

} // namespace warpwright::cli
