// Whether an exported file runs its kernels: it is called once in a fresh Python, and its own counts are read.
//
// The file runs with the rights of this process, outside of the runner's isolation, so this happens only where the user asks for it.
// Thread: any; blocks.
#pragma once

#include "support/model/task.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::server {

struct ExportRun {
  enum class Kind {
    Ran,     ///< the kernels answered
    Idle,    ///< the user's own forward did, or the file failed: `why`
    Unknown, ///< nothing could be run here: `why`
  };
  Kind kind = Kind::Unknown;
  std::string why;
};

/// @param command Python and run_export.py, as export_command() gives it
ExportRun run_export(std::vector<std::string> command, const std::filesystem::path &file,
                     model::ModuleMode mode);
/// $WARPWRIGHT_PYTHON or python3, with the script beside this program.
std::vector<std::string> export_command();

} // namespace warpwright::server
