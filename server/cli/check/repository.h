// The git repository of `warpwright check`: which files changed since a revision, and their state
// there. It reads with git's own program, changes nothing in the repository, and starts none of the
// user's external diff programs or hooks. Thread: one; blocks.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::cli {

struct ChangedFile {
  std::string path; ///< from the root; of a deleted file its old path
  std::string old_path; ///< path at the base; empty: the file is new
  bool deleted = false;
};

class Repository {
public:
  /// Opens the repository of the working directory.
  /// @param revision name of the base: a branch, a tag, a commit
  /// Errors: no git, no repository, no such revision.
  static Result<Repository> open(const std::string &revision);

  const std::filesystem::path &root() const { return root_; }
  /// The commit that is compared with: where HEAD's history left that of the revision, so that the
  /// revision's newer commits do not count as changes of HEAD.
  const std::string &base() const { return base_; }
  const std::string &revision() const { return revision_; }
  /// False: the histories share no commit that is here, and base() is the revision itself.
  bool has_common_commit() const { return has_common_commit_; }

  /// Tracked files that differ between the base and the working tree, renames found.
  Result<std::vector<ChangedFile>> changes() const;
  /// All tracked files of the working tree, from the root.
  Result<std::vector<std::string>> files() const;
  /// Writes the files of the base into an empty folder.
  Result<void> write_base(const std::filesystem::path &folder) const;

private:
  Repository(std::filesystem::path root, std::string revision)
      : root_(std::move(root)), revision_(std::move(revision)) {}

  std::filesystem::path root_;
  std::string revision_, base_;
  bool has_common_commit_ = true;
};

} // namespace warpwright::cli
