// Files of a command: finding sources, and replacing a file atomically. Also parses durations.
#pragma once

#include "support/files.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::cli {

/// The given files, and for each given directory its .cu and .cuh files and the C++ files that define
/// kernels, sorted, without hidden directories. Errors: a path that does not exist; a directory
/// without CUDA sources.
Result<std::vector<std::filesystem::path>> find_sources(const std::vector<std::string> &paths);

/// Writes `after` by warpwright::write_atomically if the file still holds `before`. Errors: as
/// write_atomically, and a file that changed meanwhile.
Result<void> replace_unchanged(const std::filesystem::path &path, const std::string &before,
                               const std::string &after);

/// Duration from "30s", "500ms", "2m", "1h" or "45" (seconds).
/// Errors: a text that is not a duration of at least one millisecond.
Result<std::chrono::milliseconds> parse_duration(const std::string &text);

} // namespace warpwright::cli
