// The files of its own project that a Python file imports, with what those import: a module is sent to a runner with them, for the runner
// has no access to the project.
//
// Names are looked up as Python does where the file is run from its own folder, or from a folder above it up to the project's root (the first
// that holds .git, pyproject.toml, setup.py, setup.cfg or .warpwright.toml). What is found nowhere there is an installed package's. It
// leaves out imports by a computed name and files that are no Python. Thread: any; all reading is the caller's.
#pragma once

#include "support/error.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace warpwright::analysis {

/// How a project is read; absolute paths.
struct ProjectDisk {
  std::function<bool(const std::string &path)> exists;
  /// nullopt: there is no such file.
  std::function<std::optional<std::string>(const std::string &path)> read;
};

/// A disk that holds nothing.
ProjectDisk no_disk();

struct ProjectImports {
  std::map<std::string, std::string>
      files; ///< text by path from one folder, without the file itself; empty: it stands alone
  std::string path; ///< of the file itself from that folder
};

/// @param path of the file, absolute; its text need not be what the disk holds
/// Errors: more or larger files than a task may hold.
Result<ProjectImports> project_imports(const std::string &path, const std::string &text,
                                       const ProjectDisk &disk);

} // namespace warpwright::analysis
