// Files that survive a kill: replaced as a whole, or extended by whole lines under a lock; and locks that a kill releases.
//
// Whoever is killed, or whatever the power does, a reader finds the old content or the new one.
// Thread: any; a LineFile from one thread at a time, though any number of processes may have the same file open.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace warpwright {

/// The whole file. Errors: it cannot be read; with the path and the system's reason.
Result<std::string> read_file(const std::filesystem::path &path);

/// Replaces the file with `bytes`: written beside it, forced to the disk, renamed. Follows a symbolic link, keeps the mode of
/// an existing file. The folder must exist.
/// Errors: the folder or the file cannot be written, the disk is full; the old file is then unchanged.
Result<void> write_atomically(const std::filesystem::path &path, std::string_view bytes);

/// A file of lines that several processes extend. Every operation holds the file's lock (flock), so that none sees half of
/// another's line. A last line without its newline was cut short by a kill; it is dropped by whoever comes next.
class LineFile {
public:
  /// Opens or makes it.
  /// @param check is given the whole lines that are there, each with its newline, and may refuse them; returns what to add
  /// @return the file, once the addition is on the disk
  /// Errors: cannot be opened, read or written; those of `check`.
  static Result<LineFile>
  open(const std::filesystem::path &path,
       const std::function<Result<std::string>(const std::string &lines)> &check);
  LineFile(LineFile &&other) noexcept;
  LineFile &operator=(LineFile &&other) noexcept;
  ~LineFile();

  /// On the disk when it returns. @param line without its newline
  /// Errors: cannot be written; the file is then as it was.
  Result<void> append(std::string_view line);

private:
  LineFile(std::filesystem::path path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// The lock of a file (flock), which one process at a time holds. It ends with the object, or with the last process that has
/// the descriptor: a child by fork() has it, a child by exec() does not.
class FileLock {
public:
  /// Makes the file where it is missing. Does not wait.
  /// @return nullopt: another process holds it. Errors: the file cannot be opened or locked.
  static Result<std::optional<FileLock>> try_take(const std::filesystem::path &path);
  FileLock(FileLock &&other) noexcept;
  FileLock &operator=(FileLock &&other) noexcept;
  ~FileLock();

private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace warpwright
