// A folder with a Git repository, for tests of what is compared with its versions.
#pragma once

#include <filesystem>
#include <string>

namespace warpwright::tests {

class TemporaryProject {
public:
  TemporaryProject();
  ~TemporaryProject();
  TemporaryProject(const TemporaryProject &) = delete;
  TemporaryProject &operator=(const TemporaryProject &) = delete;

  /// Absolute path of a file, without symbolic links.
  std::string path(const std::string &name) const { return (folder_ / name).string(); }
  void write(const std::string &name, const std::string &text) const;
  void remove(const std::string &name) const;
  /// @return Git's output
  std::string git(const std::string &words) const;
  void commit() const;

private:
  std::filesystem::path folder_;
};

} // namespace warpwright::tests
