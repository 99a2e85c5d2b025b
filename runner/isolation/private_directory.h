// A temporary directory for one worker process. The service makes and removes it, because a worker
// may be killed by a signal and may lack access to its folder.
// Thread: any.
#pragma once

#include <filesystem>
#include <optional>

namespace warpwright::runner {

class PrivateDirectory {
public:
  /// Makes a directory under $TMPDIR, else /tmp, readable by this user only. nullopt: that folder
  /// cannot be written, so the worker gets no directory.
  static std::optional<PrivateDirectory> make();
  /// Removes directories left by runners that were killed.
  static void remove_leftovers();

  PrivateDirectory(PrivateDirectory &&other) noexcept;
  PrivateDirectory &operator=(PrivateDirectory &&other) noexcept;
  ~PrivateDirectory();
  const std::filesystem::path &path() const { return path_; }

private:
  explicit PrivateDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

} // namespace warpwright::runner
