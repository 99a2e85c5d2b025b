// The project files that a Python file imports, directly or indirectly. They are sent to the runner
// with the module, because the runner has no access to the project.
//
// Names are looked up as in a Python run from the file's own folder or from a parent folder up to
// the project's root (the first folder with .git, pyproject.toml, setup.py, setup.cfg or
// .warpwright.toml). Names that are not found there belong to installed packages. Imports by a
// computed name and files other than Python are left out.
// Thread: any; all files are read through the caller's ProjectDisk.
#pragma once

#include "support/error.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace warpwright::analysis {

/// File access for a project; paths are absolute.
struct ProjectDisk {
  std::function<bool(const std::string &path)> exists;
  /// The text of a file; nullopt if there is no such file.
  std::function<std::optional<std::string>(const std::string &path)> read;
};

/// An empty disk.
ProjectDisk no_disk();

struct ProjectImports {
  std::map<std::string, std::string>
      files;        ///< text by path in a common folder, without the file itself; empty: no imports
  std::string path; ///< path of the file itself relative to that folder
};

/// @param path absolute path of the file
/// @param text current text of the file, which may differ from the disk
/// Errors: the imports are more or larger files than a task may hold.
Result<ProjectImports> project_imports(const std::string &path, const std::string &text,
                                       const ProjectDisk &disk);

} // namespace warpwright::analysis
