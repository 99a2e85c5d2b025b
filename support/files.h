// Files that survive kills and power failures: replaced as a whole, or extended by whole lines
// under a lock. A reader finds the old content or the new one. Also locks that a kill releases.
//
// Thread: any; a LineFile from one thread at a time, though any number of processes may have the
// same file open.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace warpwright {

/// The whole content of a file. Errors: the file cannot be read; with the path and the system's
/// reason.
Result<std::string> read_file(const std::filesystem::path &path);

/// Replaces the file with `bytes`, which are written to a file beside it, forced to the disk and
/// renamed. Follows a symbolic link and keeps the mode of an existing file. The folder must exist.
/// Errors: the folder or the file cannot be written, or the disk is full; the old file is then
/// unchanged.
Result<void> write_atomically(const std::filesystem::path &path, std::string_view bytes);

/// File of lines that several processes extend. Every operation holds the file's lock (flock), so
/// no process sees half of another's line. A last line without a newline was cut short by a kill;
/// the next writer drops it.
class LineFile {
public:
  /// Opens or creates the file.
  /// @param check gets the existing whole lines, each with its newline, and may refuse them;
  /// returns the text to add
  /// @return the file, once the addition is on the disk
  /// Errors: the file cannot be opened, read or written; those of `check`.
  static Result<LineFile>
  open(const std::filesystem::path &path,
       const std::function<Result<std::string>(const std::string &lines)> &check);
  LineFile(LineFile &&other) noexcept;
  LineFile &operator=(LineFile &&other) noexcept;
  ~LineFile();

  /// Adds a line, which is on the disk when the call returns. @param line without its newline
  /// Errors: the file cannot be written; it is then unchanged.
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
