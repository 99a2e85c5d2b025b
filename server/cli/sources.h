// The files that a command works on: found, read, and written back without ever leaving half a
// file.
#pragma once

#include "support/files.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace warpwright::cli {

/// Files as given, and of directories every .cu and .cuh below them, hidden directories left out,
/// sorted. Errors: a path that does not exist; a directory without CUDA sources.
Result<std::vector<std::filesystem::path>> find_sources(const std::vector<std::string> &paths);

/// warpwright::write_atomically, when the file still holds `before`.
/// Errors: also a file that changed meanwhile.
Result<void> replace_unchanged(const std::filesystem::path &path, const std::string &before,
                               const std::string &after);

/// "30s", "500ms", "2m", "45" (seconds).
/// Errors: a text that is no duration above zero.
Result<std::chrono::milliseconds> parse_duration(const std::string &text);

} // namespace warpwright::cli
