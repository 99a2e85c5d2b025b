// Reading a repository with Git's own program. It runs no hook and no file-system monitor of the
// repository, fetches nothing and takes no lock. Thread: any; blocks.
#pragma once

#include "support/error.h"

#include <string>
#include <vector>

namespace warpwright {

class Git {
public:
  /// @param folder in the repository
  explicit Git(std::string folder) : folder_(std::move(folder)) {}

  /// The command's output, for at most ten minutes.
  /// @param environment "NAME=value", beside those that Git is given anyway
  /// Errors: Git is missing, or fails; with its first line.
  Result<std::string> run(const std::vector<std::string> &arguments, const std::string &input = {},
                          const std::vector<std::string> &environment = {}) const;

private:
  std::string folder_;
};

/// The parts of a list of Git's option -z, each ended by a zero byte.
std::vector<std::string> split_at_nul(const std::string &list);

} // namespace warpwright
