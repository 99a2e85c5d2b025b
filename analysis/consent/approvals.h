// The user's approvals: configuration files of projects, by path and content, and folders whose
// code may be built and run.
//
// A project's file may name a runner, an interpreter or folders elsewhere. Such a request counts
// only after the user has seen it, and a changed file must be approved again, as in direnv. The
// store is a JSON file of the user (mode 0600), outside of every project. It is replaced as a whole
// under a lock, so several editors may approve at the same time. server/trust.h asks the user.
// Thread: any; touches the file system.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace warpwright::consent {

struct Approved {
  std::map<std::string, std::string> files; ///< SHA-256 of the approved content, by path
  std::set<std::string> folders;            ///< folders and files whose code may be run

  bool approves(const std::string &file, const std::string &content_hash) const;
  /// @param path path without symbolic links (see real_path)
  bool trusts(const std::string &path) const;
};

class ApprovalStore {
public:
  /// @param path file of the store; empty: no store, so nothing is approved and update() fails
  explicit ApprovalStore(std::filesystem::path path = default_path()) : path_(std::move(path)) {}

  /// warpwright/approvals.json in $XDG_STATE_HOME, or in ~/.local/state; empty without a home.
  static std::filesystem::path default_path();

  /// The approvals; empty if nothing was approved yet.
  /// Errors: the store is not JSON, or others may write it; the message holds a remedy.
  Result<Approved> read() const;
  /// Reads, changes and replaces the store under a lock.
  /// Errors: as read(); the folder cannot be written.
  Result<void> update(const std::function<void(Approved &)> &change) const;
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// The text of one of the user's own files; nullopt if it cannot be read.
std::optional<std::string> read_own(const std::filesystem::path &path);

/// The path without symbolic links, as far as it exists, so that each folder has one name.
std::string real_path(const std::string &path);

/// A folder of the user by the XDG base directory specification.
/// @param variable environment variable, such as XDG_STATE_HOME
/// @param below_home default, relative to the home folder: ".local/state"
/// @return empty if neither the variable nor HOME is an absolute path
std::filesystem::path user_folder(const char *variable, const char *below_home);

} // namespace warpwright::consent
