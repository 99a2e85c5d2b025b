// The project as it is at a revision of Git, to compare an edited file with the version before.
//
// An edit can change headers, the host code that gives sizes, and .warpwright.toml, so all of a
// project's sources are those of the revision. Files that Git does not track are the disk's. Only
// `git rev-parse`, `ls-tree` and `cat-file` run: they start no hook, filter or helper of the
// repository and contact no host. Thread: any.
#pragma once

#include "server/optimize/project.h"

#include <optional>
#include <string>

namespace warpwright::server {

struct BaseVersion {
  std::string commit;              ///< full hash
  FileSystem files;                ///< the disk, with the sources of the commit over it
  std::optional<std::string> text; ///< of the file; nullopt: the commit does not have it
};

/// Reads a version. Files that the commit has and the disk lost are there again; files that the
/// disk has and the commit lacks remain.
/// @param file absolute path without symbolic links
/// @param revision "HEAD", "main", a hash
/// Errors: the file is in no repository; there is no such revision; Git does not start.
Result<BaseVersion> base_version(const std::string &file, const std::string &revision);

/// Whether a folder is in a repository of Git.
bool is_in_repository(const std::string &folder);

} // namespace warpwright::server
