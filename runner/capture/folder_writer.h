// Writing of a process's folder, again and again while the program runs.
//
// No file stays open between two writes: a program may close all descriptors, or use their numbers
// for its own files. Thread: one at a time.
#pragma once

#include "runner/capture/module_store.h"
#include "runner/capture/recording.h"

namespace warpwright::capture {

class FolderWriter {
public:
  /// Makes a folder for this process in that of the capture: PID, or PID-2 after an exec.
  /// Errors: the folder cannot be made.
  static Result<FolderWriter> make(const std::filesystem::path &capture);

  /// Writes all that was recorded so far.
  /// @param process all but the members that come from the recording, and the date
  /// Errors: a file cannot be written.
  Result<void> write(Recording &recording, ModuleStore &modules, ProcessFacts process);

  const std::filesystem::path &folder() const { return folder_; }

private:
  explicit FolderWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<void> replace(const char *name, std::string text);

  std::filesystem::path folder_;
  std::map<std::string, std::string> written_; ///< text of each file, to write changes only
};

} // namespace warpwright::capture
