// The build that a program comes from: commit, date, system, C library and compiler.
//
// A program links this; tests do not, so that a commit links only the programs again.
#pragma once
#include <string>
#include <string_view>

namespace warpwright {

/// The line that `--version` prints, without a newline:
/// "warpwright 0.1.0 (3f1c2a9b7d4e, 2026-12-01), linux-x86_64, glibc 2.28, Clang 22.1.8".
/// "glibc" is the oldest version that the program starts on. The commit has the suffix "-dirty" if
/// tracked files were changed, and is "unknown commit" without git and in an archive without a name.
std::string version_line(std::string_view program);

} // namespace warpwright
