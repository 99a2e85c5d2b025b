// The folders of captures. A capture's folder has run.json and a folder for each process.
//
// Captures hold arguments of programs and of kernels, so only their owner can read them.
#pragma once

#include "runner/capture/files/capture_files.h"

namespace warpwright::cli {

/// Makes a folder with mode 0700, and those above it. Errors: it cannot be made.
Result<void> make_private_folder(const std::filesystem::path &folder);

/// Makes the folder of a new capture, with mode 0700.
/// @param wanted a folder that does not exist or is empty; "": a new one in capture::captures_folder(),
/// named by the date and the program
/// Errors: the folder is not empty or cannot be made.
Result<std::filesystem::path> make_capture(const std::string &wanted, const std::string &program);

struct StoredCapture {
  std::string name;
  capture::RunFacts run;
  std::size_t processes = 0;
  std::uint64_t launches = 0, size_bytes = 0;
};

/// The captures in a folder, oldest first. Folders that are no captures are left out.
std::vector<StoredCapture> list_captures(const std::filesystem::path &folder);

/// Deletes a capture with its files.
/// Errors: the name is not that of a capture in the folder; a file cannot be deleted.
Result<void> delete_capture(const std::filesystem::path &folder, const std::string &name);

} // namespace warpwright::cli
