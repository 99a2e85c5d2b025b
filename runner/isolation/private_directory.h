// A temporary directory for one worker process, removed with it. The service makes and removes it,
// because a worker may end by a signal and may not remove what it cannot reach.
// Thread: any.
#pragma once

#include <filesystem>
#include <optional>

namespace warpwright::runner {

class PrivateDirectory {
public:
  /// Under $TMPDIR, else /tmp; readable by this user only. nullopt when that cannot be written:
  /// the worker then has no directory to write to.
  static std::optional<PrivateDirectory> make();
  /// Removes what runners that were killed have left behind.
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
