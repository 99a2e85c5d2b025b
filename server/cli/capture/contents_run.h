// The second run of a captured program, in which contents of buffers are seen.
#pragma once

#include "runner/capture/files/contents.h"
#include "server/cli/capture/start.h"

namespace warpwright::cli {

/// The launches that take most of the GPU time, each at one place drawn at random: what a buffer
/// holds may change while the program runs. Launches that only graphs ran are left out, as nothing
/// can be copied between them.
std::vector<capture::WantedLaunch> launches_to_look_at(const std::vector<capture::ProcessFolder> &processes);

/// Prepares the second run. @return the program's environment, "NAME=value"
/// Errors: a file or a folder cannot be written; those of can_capture().
Result<std::vector<std::string>> start_contents_run(const std::filesystem::path &capture,
                                                    const std::vector<capture::WantedLaunch> &wanted);

} // namespace warpwright::cli
