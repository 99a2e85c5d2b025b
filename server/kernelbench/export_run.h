// Check that an exported file runs its kernels: calls it once in a new Python process and reads its counts.
//
// The file runs with this process's rights, outside of the runner's isolation, so only at the user's request.
// Thread: any; blocks.
#pragma once

#include "support/model/task.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::server {

struct ExportRun {
  enum class Kind {
    Ran,     ///< the kernels ran
    Idle,    ///< the user's own forward ran, or the file failed: `why`
    Unknown, ///< nothing could be run here: `why`
  };
  Kind kind = Kind::Unknown;
  std::string why;
};

/// @param command Python and run_export.py, from export_command()
ExportRun run_export(std::vector<std::string> command, const std::filesystem::path &file,
                     model::ModuleMode mode);
/// $WARPWRIGHT_PYTHON or python3, and the script next to this program.
std::vector<std::string> export_command();

} // namespace warpwright::server
