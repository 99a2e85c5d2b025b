// The approvals of the user: configuration files of projects, each by its path and content, and folders
// whose code may be built and run.
//
// A project's file may name a runner, an interpreter or folders elsewhere. Such a request counts only
// after the user saw it, and a changed file has to be approved again, as in direnv. The store is a
// JSON file of the user (mode 0600), outside of every project; it is replaced as a whole under a
// lock, so that several editors may approve at once. Leaves out asking: server/trust.h does that.
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
  std::set<std::string> folders;            ///< what is in them may be built and run; also files

  bool approves(const std::string &file, const std::string &content_hash) const;
  /// @param path without symbolic links (see real_path)
  bool trusts(const std::string &path) const;
};

class ApprovalStore {
public:
  /// @param path of the store; empty: there is none, nothing is approved and nothing can be
  explicit ApprovalStore(std::filesystem::path path = default_path()) : path_(std::move(path)) {}

  /// warpwright/approvals.json in $XDG_STATE_HOME, or in ~/.local/state; empty without a home.
  static std::filesystem::path default_path();

  /// Empty where nothing was approved yet. Errors: a store that is not JSON, or that others may
  /// write; what to do.
  Result<Approved> read() const;
  /// Reads, changes and replaces the store under a lock.
  /// Errors: as read(), and a folder that cannot be written.
  Result<void> update(const std::function<void(Approved &)> &change) const;
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// The text of a file of the user's own; nullopt where it cannot be read.
std::optional<std::string> read_own(const std::filesystem::path &path);

/// The path without symbolic links, as far as it exists: two names of a folder are one.
std::string real_path(const std::string &path);

/// A folder of the user's own by the XDG base directory specification.
/// @param variable such as XDG_STATE_HOME @param below_home what it is by default, ".local/state"
/// @return empty where neither is an absolute path
std::filesystem::path user_folder(const char *variable, const char *below_home);

} // namespace warpwright::consent
