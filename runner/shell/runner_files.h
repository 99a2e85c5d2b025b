// The runner's program on this machine, and the files of it that a machine elsewhere needs.
//
// A copy has the program, the files of its Python workers (`torch/`) and, on request, the CPU
// backend, which is large and of use only where correctness alone is checked. Thread: any.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::runner {

/// $WARPWRIGHT_RUNNER, else `warpwright-runner` beside this executable. Errors: there is none.
Result<std::string> find_runner();

struct RunnerFiles {
  std::filesystem::path folder;
  std::vector<std::string> names; ///< files and folders in `folder`
  std::string key;                ///< version and hash of names and contents: "0.1.0-0123456789abcdef"
};

/// Errors: no runner here, no CPU backend here, or a file that cannot be read.
Result<RunnerFiles> find_runner_files(bool with_cpu_worker);

/// Command that writes a gzipped tar archive of the files to stdout.
std::vector<std::string> archive_command(const RunnerFiles &files);

} // namespace warpwright::runner
